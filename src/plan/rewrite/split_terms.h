// Reductions over composite operands within larger expressions, as statements of their own.
#pragma once

#include "plan/rewrite/composites.h"
#include "plan/rewrite/unique_indices.h"

namespace tulle::plan {

// Where a statement with a dense result is not computed part by part, but a reduction in it can be
// (b[i] + sum(j, A[i,j] * x[j]), relu of such a sum), or those that it is written out with (a mean
// is a sum over a count), each becomes a dense intermediate before it, of the type that it is
// accumulated in. It has no index that the result lacks, and only terms and functions stand around
// it that do not tell a 0 from what is absent.
UniqueProgram split_terms(const UniqueProgram& program, const Composites& composites);

}  // namespace tulle::plan
