// Rewrites programs over composite operands into programs over their parts.
#pragma once

#include "plan/rewrite/composites.h"
#include "plan/rewrite/unique_indices.h"

namespace tulle::plan {

// Every composite operand is replaced by its parts.
//
// A statement with a dense result becomes one statement for each part if the sum, product, maximum
// or minimum of the values for the parts is its value; the further statements add to the result of
// the first. The same holds for a reduction within a larger expression (split_terms). Any other
// statement reads an intermediate that contains all parts (the general path). Notes say which case
// applied.
UniqueProgram decompose(const UniqueProgram& program, const Composites& composites);

}  // namespace tulle::plan
