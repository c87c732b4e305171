// Accumulation: commutative operations and their neutral values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tulle::nest {

// X(enumerator, text of the accumulation). On bool, Sum and Max are `or`, Prod and Min are `and`.
//
// The last two form tuples: a workspace that accumulates by Pick or Scaled belongs to another
// workspace, its lead, which accumulates a maximum or minimum immediately before. Pick keeps the
// term that came with the best value of the lead, the smallest term if several tie, and -1 before
// the first one. Scaled sums terms v, each multiplied by exp(x - m), where x is the lead's term and
// m the lead's maximum so far; earlier terms are rescaled when m grows. The result, the sum of v *
// exp(x - max x), never overflows.
#define TULLE_MONOIDS(X) \
  X(Sum, "+=")           \
  X(Prod, "*=")          \
  X(Max, "max=")         \
  X(Min, "min=")         \
  X(Pick, "pick=")       \
  X(Scaled, "scaled=")

enum class Monoid : uint8_t {
#define X(name, text) name,
  TULLE_MONOIDS(X)
#undef X
};

// Empty for a plain assignment.
using Accumulate = std::optional<Monoid>;

std::string_view text_of(Monoid monoid);
Accumulate monoid_called(std::string_view text);
inline bool has_lead(Accumulate accumulate) {
  return accumulate == Monoid::Pick || accumulate == Monoid::Scaled;
}
// Whether partial results can be combined element by element with one operation.
inline bool stands_alone(Accumulate accumulate) { return accumulate && !has_lead(accumulate); }
// Whether the floating-point result is bitwise equal for any order of terms.
inline bool is_exact(Accumulate accumulate) {
  return accumulate == Monoid::Max || accumulate == Monoid::Min;
}
// Whether an absent term equals a term of 0, so that the value over no terms is absent.
inline bool starts_absent(Accumulate accumulate) {
  return !accumulate || *accumulate == Monoid::Sum;
}

}  // namespace tulle::nest
