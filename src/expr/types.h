// Type promotion, as in torch.
#pragma once

#include <cstdint>

#include "tulle/dtype.h"

namespace tulle::expr {

// The type that two tensors promote to.
DType promote_types(DType a, DType b);

// The weight of a value in promotion: literals weigh least, tensors with dimensions most.
enum class Strength : uint8_t { Number, Scalar, Tensor };

struct TypedStrength {
  DType type;
  Strength strength;
};

// Promotes two types. A weaker operand only counts if it is in a higher category (bool, integer,
// float).
TypedStrength promote(const TypedStrength& a, const TypedStrength& b);

// The result type of quotients and of functions without integer results: float32 for integers and
// bools, else the type itself.
DType as_float(DType type);

}  // namespace tulle::expr
