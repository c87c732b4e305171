// The arithmetic of the reference evaluator: one value, or its absence.
#pragma once

#include <cstdint>

#include "expr/expr.h"

namespace tulle::expr {

// A value of some type; which of the two numbers counts follows from it. An absent value is 0.
struct Scalar {
  DType type = DType::Float32;
  bool present = false;
  double real = 0;      // of floating-point types
  int64_t integer = 0;  // of the others
};

Scalar absent(DType type);
Scalar make_real(DType type, double value);
Scalar make_integer(DType type, int64_t value);  // wraps to the width of the type

Scalar convert(const Scalar& value, DType type);
// Both operands are of the result's type (of Within only the second). An absent factor fixes a
// product, an absent numerator a quotient; an absent term falls away.
Scalar apply(BinaryOp op, const Scalar& a, const Scalar& b);
Scalar apply(ElementFunction function, const Scalar& value);

}  // namespace tulle::expr
