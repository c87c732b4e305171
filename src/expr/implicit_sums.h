// Makes implicit sums explicit.
#pragma once

#include "expr/program.h"

namespace tulle::expr {

// Sums each index that is not on the left, separately in each additive term, around the smallest
// subexpression that contains all its uses. Throws UserError if that subexpression is inside an
// element function or a denominator, and if an explicit sum has an invalid index.
Statement insert_sums(const Statement& statement);

}  // namespace tulle::expr
