// Sums over composite operands within larger expressions, as statements of their own.
#pragma once

#include "plan/composites.h"
#include "plan/unique_indices.h"

namespace tulle::plan {

// Where a statement with a dense result is not additive in a composite operand, but a sum in it is
// (b[i] + sum(j, A[i,j] * x[j]), relu of such a sum), the sum becomes a dense intermediate before
// it, which can be computed part by part. It has no index that the result lacks, and only terms and
// functions stand around it that do not tell a 0 from what is absent.
UniqueProgram split_terms(const UniqueProgram& program, const Composites& composites);

}  // namespace tulle::plan
