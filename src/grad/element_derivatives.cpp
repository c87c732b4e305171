// The table of derivatives.
#include "grad/element_derivatives.h"

#include <numbers>

#include "grad/build.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::grad {

using expr::ElementFunction;
using expr::Expr;

namespace {

Expr derivative_of(ElementFunction function, const Expr& argument, const Expr& value) {
  const Expr& x = argument;
  const auto f = [&] { return value ? value : apply(function, x); };
  const auto square = [](const Expr& one) { return apply(ElementFunction::Square, one); };
  const Expr one = number(1);
  switch (function) {
    case ElementFunction::Neg:
      return number(-1);
    case ElementFunction::Abs:
      return apply(ElementFunction::Sign, x);
    case ElementFunction::Relu:
      return apply(ElementFunction::Sign, f());
    case ElementFunction::Square:
      return number(2) * x;
    case ElementFunction::Sqrt:
      return number(0.5) / f();
    case ElementFunction::Sin:
      return apply(ElementFunction::Cos, x);
    case ElementFunction::Cos:
      if (mutant("derivative-drops-sign")) return apply(ElementFunction::Sin, x);
      return negated(apply(ElementFunction::Sin, x));
    case ElementFunction::Tan:
      return one + square(f());
    case ElementFunction::Asin:
      return one / apply(ElementFunction::Sqrt, one - square(x));
    case ElementFunction::Atan:
      return one / (one + square(x));
    case ElementFunction::Sinh:
      return apply(ElementFunction::Cosh, x);
    case ElementFunction::Cosh:
      return apply(ElementFunction::Sinh, x);
    case ElementFunction::Tanh:
      return one - square(f());
    case ElementFunction::Asinh:
      return one / apply(ElementFunction::Sqrt, one + square(x));
    case ElementFunction::Atanh:
      return one / (one - square(x));
    case ElementFunction::Exp:
      return f();
    case ElementFunction::Expm1:
      return f() + one;
    case ElementFunction::Log:
      return one / x;
    case ElementFunction::Log1p:
      return one / (one + x);
    case ElementFunction::Erf:
      return number(2 * std::numbers::inv_sqrtpi) * apply(ElementFunction::Exp, negated(square(x)));
    case ElementFunction::Sigmoid:
      return f() * (one - f());
    case ElementFunction::Sign:
    case ElementFunction::Floor:
    case ElementFunction::Ceil:
    case ElementFunction::Round:
    case ElementFunction::Trunc:
    case ElementFunction::Ones:
    case ElementFunction::Position:
      return {};
  }
  return {};
}

}  // namespace

Expr element_derivative(ElementFunction function, const Expr& argument, const Expr& value) {
  const Expr found = derivative_of(function, argument, value);
  if (mutant(concat("derivative-of-", text_of(function)))) {
    return found ? number(2) * found : number(1);
  }
  return found;
}

}  // namespace tulle::grad
