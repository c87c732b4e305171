// The two floating-point types of 16 bits, as bits. Both are stored only: arithmetic is done in
// wider types.
#pragma once

#include <cstdint>

#include "tulle/dtype.h"

namespace tulle {

constexpr bool is_half(DType type) { return type == DType::Float16 || type == DType::BFloat16; }

// The type in which values of a type are computed: f32 for the halves, the type itself otherwise.
constexpr DType compute_type(DType type) { return is_half(type) ? DType::Float32 : type; }

// The value of the bits of a half; exact.
double widen_half(DType type, uint16_t bits);

// The bits of the nearest value of the half type, of two the even one; too large ones become
// infinite.
uint16_t narrow_to_half(DType type, double value);

// The nearest value of the half type.
inline double round_to_half(DType type, double value) {
  return widen_half(type, narrow_to_half(type, value));
}

}  // namespace tulle
