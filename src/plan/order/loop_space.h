// The loop variables of a statement. An index that blocked operands divide has two variables.
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
  // The variables of each index: itself, or its outer and inner variable, or its difference to
  // another index.
  std::map<std::string, std::vector<std::string>> parts;

  // The index that is subtracted in the loop for this index. Empty if there is no difference.
  std::string subtracted(const std::string& index) const;
  // Whether each index has a loop of its own.
  bool is_whole() const;
};

// The division of indices into loops. AsStored and ByBlocks divide them as the operands are stored.
// AsStored gives precedence to operands that store an index whole, ByBlocks to operands with
// blocks. None gives each index one loop. Operands with other storage must be converted.
enum class Division : uint8_t { AsStored, ByBlocks, None };

// Divides indices as blocked operands require. Replaces them by differences for operands stored by
// diagonals, if the statement is absent where these have no entries. If two operands disagree, no
// loop matches some levels of the later one, which must be converted.
LoopSpace make_loop_space(const expr::Statement& statement,
                          const std::map<std::string, expr::TensorType>& tensors,
                          Division division = Division::AsStored);

// The loop variable that walks over a level of an access with these indices. Empty if there is
// none.
std::string level_variable(const LevelExpr& level, const std::vector<std::string>& indices,
                           const LoopSpace& space);

}  // namespace tulle::plan
