// Type promotion, as in torch.
#pragma once

#include <cstdint>

#include "tulle/dtype.h"

namespace tulle::expr {

// The type that two tensors promote to.
DType promote_types(DType a, DType b);

// How much a value has to say in promotion: numbers in the text least, tensors with dimensions
// most.
enum class Strength : uint8_t { Number, Scalar, Tensor };

struct TypedStrength {
  DType type;
  Strength strength;
};

// Promotion where a weaker operand only counts if it is of a higher category (bool, integer,
// float).
TypedStrength promote(const TypedStrength& a, const TypedStrength& b);

// The type of a quotient, or of a function that has no integer results: float32 for integers and
// bools.
DType as_float(DType type);

}  // namespace tulle::expr
