// The loop variables of a statement in level space: an index that blocked operands divide becomes two variables.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "expr/program.h"
#include "nest/nest.h"

namespace tulle::plan {

struct LoopSpace {
  std::map<std::string, nest::Variable> variables;
  std::map<std::string, std::vector<std::string>> parts;  // of each index: itself, or its outer and inner variable
  std::set<std::string> disagreeing;                      // operands whose blocks do not fit the others: to be converted
};

// Indices are divided as the blocked tensors ask; where two tensors disagree, the later one is to be converted.
// `result` takes part if its levels are to be built in place.
LoopSpace make_loop_space(const expr::Statement& statement, const std::map<std::string, expr::TensorType>& tensors);

// The loop variable that walks over a level of an access with these indices; empty if none does.
std::string level_variable(const LevelExpr& level, const std::vector<std::string>& indices, const LoopSpace& space);

}  // namespace tulle::plan
