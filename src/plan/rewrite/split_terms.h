// Separates reductions over composite operands from larger expressions.
#pragma once

#include "plan/rewrite/composites.h"
#include "plan/rewrite/unique_indices.h"

namespace tulle::plan {

// Applies to statements with a dense result that cannot be computed part by part although a
// reduction in them can: b[i] + sum(j, A[i,j] * x[j]), a relu of such a sum, or a mean, which is a
// sum over a count. Each such reduction becomes a dense intermediate before the statement, with its
// accumulation type. It must have no index that the result lacks. Only terms and functions that
// treat 0 and absent values alike may surround it.
UniqueProgram split_terms(const UniqueProgram& program, const Composites& composites);

}  // namespace tulle::plan
