// How terms accumulate: a commutative operation and the value that changes nothing under it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tulle::nest {

// X(enumerator, text of the accumulation). On bool Sum and Max are or, Prod and Min are and.
//
// The last two make tuples: a workspace that accumulates by them goes with another one, its lead,
// which accumulates a maximum (or minimum) right before. Pick keeps the term that came with the
// lead's best, the smallest of several; -1 before there is one. Scaled is the sum of terms, each
// times the exponential of what the lead took with it, less the exponential's part up to the lead's
// maximum: with terms x of the lead, the sum of v * exp(x - max x), which never overflows.
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

// Nothing where a value is assigned rather than accumulated.
using Accumulate = std::optional<Monoid>;

std::string_view text_of(Monoid monoid);
Accumulate monoid_called(std::string_view text);
inline bool has_lead(Accumulate accumulate) {
  return accumulate == Monoid::Pick || accumulate == Monoid::Scaled;
}
// Whether what is accumulated apart can be put together term by term, in one operation.
inline bool stands_alone(Accumulate accumulate) { return accumulate && !has_lead(accumulate); }
// Whether floating-point terms come to the same bits in any order.
inline bool is_exact(Accumulate accumulate) {
  return accumulate == Monoid::Max || accumulate == Monoid::Min;
}
// Whether nothing is the same as a term of 0, so that a value over no terms is absent.
inline bool starts_absent(Accumulate accumulate) {
  return !accumulate || *accumulate == Monoid::Sum;
}

}  // namespace tulle::nest
