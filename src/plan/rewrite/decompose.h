// Rewrites programs over composite operands into programs over their parts.
#pragma once

#include "plan/rewrite/composites.h"
#include "plan/rewrite/unique_indices.h"

namespace tulle::plan {

// Replaces every composite operand by its parts.
//
// A statement with a dense result becomes one statement for each part if its value is the sum,
// product, maximum or minimum of the values for the parts. The later statements add to the result
// of the first. The same holds for a reduction within a larger expression (split_terms). Any other
// statement reads an intermediate that contains all parts (the general path). Notes name the case.
UniqueProgram decompose(const UniqueProgram& program, const Composites& composites);

}  // namespace tulle::plan
