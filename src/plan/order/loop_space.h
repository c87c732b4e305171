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

// Whether indices are divided as operands are stored, those that store them whole before those with
// blocks (AsStored) or the other way round (ByBlocks), or each has one loop (None). Operands that
// are stored otherwise are to be converted.
enum class Division : uint8_t { AsStored, ByBlocks, None };

// Indices are divided as the blocked operands ask, and replaced by differences as operands stored
// by diagonals do, where nothing is left of the statement without those. Where two operands
// disagree, the later one has levels that no loop walks over and is to be converted.
LoopSpace make_loop_space(const expr::Statement& statement,
                          const std::map<std::string, expr::TensorType>& tensors,
                          Division division = Division::AsStored);

// The loop variable that walks over a level of an access with these indices; empty if none does.
std::string level_variable(const LevelExpr& level, const std::vector<std::string>& indices,
                           const LoopSpace& space);

}  // namespace tulle::plan
