// Conversion of the two 16-bit floating-point types. They are storage types: arithmetic uses wider
// types.
#pragma once

#include <cstdint>

#include "tulle/dtype.h"

namespace tulle {

constexpr bool is_half(DType type) { return type == DType::Float16 || type == DType::BFloat16; }

// The type for computing with values of a type: f32 for the half types, else the type itself.
constexpr DType compute_type(DType type) { return is_half(type) ? DType::Float32 : type; }

// The exact value of the bits of a half.
double widen_half(DType type, uint16_t bits);

// The bits of the nearest value of the half type, ties to even. Values that are too large become
// infinite.
uint16_t narrow_to_half(DType type, double value);

// The nearest value of the half type.
inline double round_to_half(DType type, double value) {
  return widen_half(type, narrow_to_half(type, value));
}

}  // namespace tulle
