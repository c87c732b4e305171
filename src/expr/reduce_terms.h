// Reductions of the reference evaluator: all terms at once, by their definition.
#pragma once

#include <cstdint>
#include <vector>

#include "expr/scalar.h"

namespace tulle::expr {

// A value of what is reduced and where along the (last) index it stands.
struct ReducedTerm {
  Scalar value;
  int64_t coordinate;
};

// The reduction of the terms, which come in order of coordinates.
Scalar reduce_terms(const Reduce& reduce, const std::vector<ReducedTerm>& terms);

}  // namespace tulle::expr
