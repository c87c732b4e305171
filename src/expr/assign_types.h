// Assigns a type to every node by promotion, and a number to every access.
#pragma once

#include <map>
#include <set>
#include <string>

#include "expr/program.h"

namespace tulle::expr {

// Returns the statement with types. Folds operations on literals; a literal takes the type of the
// other operand. `numbers` are operands that are as weak in promotion as literals; `strong` are
// operands without indices that are as strong as tensors with indices. Throws UserError if a type
// does not support an operation.
Statement assign_types(const Statement& statement, const std::map<std::string, TensorType>& tensors,
                       const std::set<std::string>& numbers,
                       const std::set<std::string>& strong = {});

}  // namespace tulle::expr
