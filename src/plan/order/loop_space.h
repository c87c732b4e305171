// The loop variables of a statement in level space: an index that blocked operands divide becomes
// two variables.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "expr/program.h"
#include "nest/nest.h"

namespace tulle::plan {

struct LoopSpace {
  std::map<std::string, nest::Variable> variables;
  // Of each index: itself, its outer and inner variable, or its difference to another index.
  std::map<std::string, std::vector<std::string>> parts;

  // The index that a loop over the difference to it stands for this one; empty if none does.
  std::string subtracted(const std::string& index) const;
  // Whether each index has a loop of its own.
  bool is_whole() const;
};

// How indices become loops. AsStored and ByBlocks divide them as the operands are stored, with
// precedence for operands that store an index whole or for operands with blocks; None gives each
// index one loop. Operands that are stored otherwise have to be converted.
enum class Division : uint8_t { AsStored, ByBlocks, None };

// Divides indices as blocked operands require, and replaces them by differences for operands stored
// by diagonals if the statement is absent without these. Where two operands disagree, no loop walks
// over some levels of the later one, which has to be converted.
LoopSpace make_loop_space(const expr::Statement& statement,
                          const std::map<std::string, expr::TensorType>& tensors,
                          Division division = Division::AsStored);

// The loop variable that walks over a level of an access with these indices; empty if none does.
std::string level_variable(const LevelExpr& level, const std::vector<std::string>& indices,
                           const LoopSpace& space);

}  // namespace tulle::plan
