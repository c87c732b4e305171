// Builds loop IR for functions.
#include "lower/element_functions.h"

#include "support/check.h"

namespace tulle::lower {

using expr::ElementFunction;
using loop::Binary;
using loop::BinaryOp;
using loop::Call;
using loop::Expr;
using loop::Function;

namespace {

Expr sign_of(const Expr& x) {  // 0 of NaN, as in torch
  if (x.type().is_bool()) return x;
  const Expr zero = loop::constant(x.type(), 0), one = loop::constant(x.type(), 1);
  const Expr minus = loop::constant(x.type(), -1);
  return loop::Select::make(zero < x, one, loop::Select::make(x < zero, minus, zero));
}

}  // namespace

Expr apply(ElementFunction function, const Expr& x) {
  const bool is_integral = !x.type().is_float();
  switch (function) {
    case ElementFunction::Relu: {  // NaN and -0 stay
      const Expr zero = loop::constant(x.type(), 0);
      return loop::Select::make(x < zero, zero, x);
    }
    case ElementFunction::Square:
      return x * x;
    case ElementFunction::Sign:
      return sign_of(x);
#define TULLE_ROUNDING(name)  \
  case ElementFunction::name: \
    return is_integral ? x : Call::make(Function::name, {x});
      TULLE_ROUNDING(Floor)
      TULLE_ROUNDING(Ceil)
      TULLE_ROUNDING(Round)
      TULLE_ROUNDING(Trunc)
#undef TULLE_ROUNDING
#define TULLE_CALL(name)      \
  case ElementFunction::name: \
    return Call::make(Function::name, {x});
      TULLE_CALL(Neg)
      TULLE_CALL(Abs)
      TULLE_CALL(Sqrt)
      TULLE_CALL(Sin)
      TULLE_CALL(Tan)
      TULLE_CALL(Asin)
      TULLE_CALL(Atan)
      TULLE_CALL(Sinh)
      TULLE_CALL(Tanh)
      TULLE_CALL(Asinh)
      TULLE_CALL(Atanh)
      TULLE_CALL(Expm1)
      TULLE_CALL(Log1p)
      TULLE_CALL(Erf)
      TULLE_CALL(Exp)
      TULLE_CALL(Log)
      TULLE_CALL(Cos)
      TULLE_CALL(Cosh)
      TULLE_CALL(Sigmoid)
#undef TULLE_CALL
    case ElementFunction::Ones:
    case ElementFunction::Position:
      break;
  }
  internal_error("an element function without code");
}

Expr apply(expr::BinaryOp op, const Expr& a, const Expr& b) {
  const bool logical = a.type().is_bool();
  switch (op) {
    case expr::BinaryOp::Add:
      return Binary::make(logical ? BinaryOp::Or : BinaryOp::Add, a, b);
    case expr::BinaryOp::Mul:
      return Binary::make(logical ? BinaryOp::And : BinaryOp::Mul, a, b);
    case expr::BinaryOp::Sub:
      return Binary::make(BinaryOp::Sub, a, b);
    case expr::BinaryOp::Div:
      return Binary::make(BinaryOp::Div, a, b);
    case expr::BinaryOp::Max:
      return Binary::make(logical ? BinaryOp::Or : BinaryOp::Max, a, b);
    case expr::BinaryOp::Min:
      return Binary::make(logical ? BinaryOp::And : BinaryOp::Min, a, b);
    case expr::BinaryOp::Within:
      return b;
  }
  internal_error("a binary operation without code");
}

}  // namespace tulle::lower
