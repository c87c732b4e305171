// Programs over composite operands, rewritten into programs over the parts.
#pragma once

#include "plan/rewrite/composites.h"
#include "plan/rewrite/unique_indices.h"

namespace tulle::plan {

// Every composite operand is replaced by its parts.
//
// A statement with a dense result whose value is the sum of what it is for each part alone, or the
// product, maximum or minimum of these, becomes one statement for each part, the further ones
// adding to the result of the first; so does a reduction within a larger expression (split_terms).
// Any other statement reads an intermediate in which the parts are put together: the general path.
// Notes say which was done.
UniqueProgram decompose(const UniqueProgram& program, const Composites& composites);

}  // namespace tulle::plan
