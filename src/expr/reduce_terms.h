// The reductions of the reference evaluator, computed from all terms by definition.
#pragma once

#include <cstdint>
#include <vector>

#include "expr/scalar.h"

namespace tulle::expr {

// A value of the body, and its coordinate along the last index.
struct ReducedTerm {
  Scalar value;
  int64_t coordinate;
};

// Reduces the terms, which are sorted by coordinate.
Scalar reduce_terms(const Reduce& reduce, const std::vector<ReducedTerm>& terms);

}  // namespace tulle::expr
