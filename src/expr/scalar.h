// The arithmetic of the reference evaluator: single values that may be absent.
#pragma once

#include <cstdint>

#include "expr/expr.h"

namespace tulle::expr {

// A value of some type, which determines which of the two numbers holds it. An absent value is 0.
struct Scalar {
  DType type = DType::Float32;
  bool present = false;
  double real = 0;      // for floating-point types
  int64_t integer = 0;  // for all other types
};

Scalar absent(DType type);
Scalar make_real(DType type, double value);
Scalar make_integer(DType type, int64_t value);  // wraps to the width of the type

Scalar convert(const Scalar& value, DType type);
// Both operands have the result's type (for Within only the second). An absent factor makes a
// product absent, an absent numerator a quotient; an absent term drops out.
Scalar apply(BinaryOp op, const Scalar& a, const Scalar& b);
Scalar apply(ElementFunction function, const Scalar& value);

}  // namespace tulle::expr
