// Gives every node its type by promotion, and every access its number.
#pragma once

#include <map>
#include <set>
#include <string>

#include "expr/program.h"

namespace tulle::expr {

// The statement typed: operations on numbers alone are folded, numbers take the type of what they
// meet. `numbers` are the operands that are as weak as numbers in the text, `strong` those that
// have no indices and stand for tensors that do. UserError where a type does not have the
// operation.
Statement assign_types(const Statement& statement, const std::map<std::string, TensorType>& tensors,
                       const std::set<std::string>& numbers,
                       const std::set<std::string>& strong = {});

}  // namespace tulle::expr
