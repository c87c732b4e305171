// Makes the sums over indices that are not on the left explicit.
#pragma once

#include "expr/program.h"

namespace tulle::expr {

// Sums each index that is not on the left separately in each additive term, at the smallest
// subexpression that holds all its uses. UserError where that would be inside an element function
// or a denominator, and where an explicit sum is over an index that it cannot have.
Statement insert_sums(const Statement& statement);

}  // namespace tulle::expr
