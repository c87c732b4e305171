// Packs and unpacks halves.
#include "support/half.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/check.h"

namespace tulle {

namespace {

struct Layout {
  int fraction;  // number of fraction bits
  int bias;      // exponent bias
  uint16_t infinity;
};

Layout layout_of(DType type) {
  TULLE_CHECK(is_half(type), name_of(type));
  return type == DType::Float16 ? Layout{10, 15, 0x7c00} : Layout{7, 127, 0x7f80};
}

}  // namespace

double widen_half(DType type, uint16_t bits) {
  const Layout layout = layout_of(type);
  const int magnitude = bits & 0x7fff, hidden = 1 << layout.fraction;
  double value = 0;
  if (magnitude > layout.infinity) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (magnitude == layout.infinity) {
    value = std::numeric_limits<double>::infinity();
  } else {
    const int exponent = magnitude >> layout.fraction, fraction = magnitude & (hidden - 1);
    const int digits = exponent == 0 ? fraction : fraction + hidden;
    value = std::ldexp(digits, std::max(exponent, 1) - layout.bias - layout.fraction);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

uint16_t narrow_to_half(DType type, double value) {
  const Layout layout = layout_of(type);
  const int sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return static_cast<uint16_t>(sign | layout.infinity | layout.infinity >> 1);
  int magnitude = layout.infinity;
  if (value == 0) {
    magnitude = 0;
  } else if (std::isfinite(value) && std::ilogb(value) <= layout.bias) {
    // Values below the smallest exponent have fewer digits. For all others, the hidden bit adds one
    // to the exponent.
    const int exponent = std::max(std::ilogb(value), 1 - layout.bias);
    const double digits = std::nearbyint(std::ldexp(std::fabs(value), layout.fraction - exponent));
    magnitude = ((exponent + layout.bias - 1) << layout.fraction) + static_cast<int>(digits);
    magnitude = std::min<int>(magnitude, layout.infinity);
  }
  return static_cast<uint16_t>(sign | magnitude);
}

}  // namespace tulle
