// Operations on single values.
#include "expr/scalar.h"

#include <cmath>

#include "support/check.h"

namespace tulle::expr {

namespace {

int64_t wrap(DType type, uint64_t value) {
  switch (type) {
    case DType::Bool:
      return value != 0 ? 1 : 0;
    case DType::Int32:
      return static_cast<int32_t>(static_cast<uint32_t>(value));
    default:
      return static_cast<int64_t>(value);
  }
}

double apply_real(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a - b;
    case BinaryOp::Mul:
      return a * b;
    case BinaryOp::Div:
      return a / b;
    case BinaryOp::Max:
      return std::isnan(a) || a > b ? a : b;  // NaN stays
    case BinaryOp::Min:
      return std::isnan(a) || a < b ? a : b;
    case BinaryOp::Within:
      return b;
  }
  internal_error("unknown operation");
}

// Unsigned arithmetic wraps. On bool, * is `and`, + is `or`.
uint64_t apply_integer(BinaryOp op, uint64_t a, uint64_t b) {
  const auto x = static_cast<int64_t>(a);
  const auto y = static_cast<int64_t>(b);
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a - b;
    case BinaryOp::Mul:
      return a * b;
    case BinaryOp::Max:
      return x > y ? a : b;
    case BinaryOp::Min:
      return x < y ? a : b;
    case BinaryOp::Within:
      return b;
    case BinaryOp::Div:
      internal_error("quotients are floating-point");
  }
  internal_error("unknown operation");
}

double apply_real(ElementFunction function, double x) {
  switch (function) {
    case ElementFunction::Neg:
      return -x;
    case ElementFunction::Abs:
      return std::fabs(x);
    case ElementFunction::Relu:
      return x < 0 ? 0 : x;  // NaN stays
    case ElementFunction::Sign:
      return static_cast<double>((x > 0) - (x < 0));
    case ElementFunction::Square:
      return x * x;
    case ElementFunction::Sqrt:
      return std::sqrt(x);
    case ElementFunction::Floor:
      return std::floor(x);
    case ElementFunction::Ceil:
      return std::ceil(x);
    case ElementFunction::Round:
      return std::nearbyint(x);  // halves to even
    case ElementFunction::Trunc:
      return std::trunc(x);
    case ElementFunction::Sin:
      return std::sin(x);
    case ElementFunction::Tan:
      return std::tan(x);
    case ElementFunction::Asin:
      return std::asin(x);
    case ElementFunction::Atan:
      return std::atan(x);
    case ElementFunction::Sinh:
      return std::sinh(x);
    case ElementFunction::Tanh:
      return std::tanh(x);
    case ElementFunction::Asinh:
      return std::asinh(x);
    case ElementFunction::Atanh:
      return std::atanh(x);
    case ElementFunction::Expm1:
      return std::expm1(x);
    case ElementFunction::Log1p:
      return std::log1p(x);
    case ElementFunction::Erf:
      return std::erf(x);
    case ElementFunction::Exp:
      return std::exp(x);
    case ElementFunction::Log:
      return std::log(x);
    case ElementFunction::Cos:
      return std::cos(x);
    case ElementFunction::Cosh:
      return std::cosh(x);
    case ElementFunction::Sigmoid:
      return 1 / (1 + std::exp(-x));
    case ElementFunction::Ones:
    case ElementFunction::Position:
      break;
  }
  internal_error("unknown element function");
}

uint64_t apply_integer(ElementFunction function, int64_t x) {
  const auto bits = static_cast<uint64_t>(x);
  switch (function) {
    case ElementFunction::Neg:
      return 0 - bits;
    case ElementFunction::Abs:
      return x < 0 ? 0 - bits : bits;
    case ElementFunction::Relu:
      return x < 0 ? 0 : bits;
    case ElementFunction::Sign:
      return static_cast<uint64_t>(static_cast<int64_t>((x > 0) - (x < 0)));
    case ElementFunction::Square:
      return bits * bits;
    case ElementFunction::Floor:
    case ElementFunction::Ceil:
    case ElementFunction::Round:
    case ElementFunction::Trunc:
      return bits;
    default:
      internal_error("'", text_of(function), "' of an integer");
  }
}

}  // namespace

Scalar absent(DType type) { return {.type = type}; }

Scalar make_real(DType type, double value) {
  return {.type = type, .present = true, .real = value};
}

Scalar make_integer(DType type, int64_t value) {
  return {.type = type, .present = true, .integer = wrap(type, static_cast<uint64_t>(value))};
}

Scalar convert(const Scalar& value, DType type) {
  if (!value.present) return absent(type);
  if (is_float(value.type)) {
    TULLE_CHECK(is_float(type), "promotion never leads from floating point to ", name_of(type));
    return make_real(type, value.real);
  }
  return is_float(type) ? make_real(type, static_cast<double>(value.integer))
                        : make_integer(type, value.integer);
}

Scalar apply(BinaryOp op, const Scalar& a, const Scalar& b) {
  if (op == BinaryOp::Within) {
    if (!a.present) return absent(b.type);
    Scalar value = b;
    value.present = true;
    return value;
  }
  TULLE_CHECK(a.type == b.type);
  if (op == BinaryOp::Mul && (!a.present || !b.present)) return absent(a.type);
  if (op == BinaryOp::Div && !a.present) return a;
  if ((op == BinaryOp::Add || op == BinaryOp::Sub) && !b.present) return a;
  if (op == BinaryOp::Add && !a.present) return b;
  if ((op == BinaryOp::Max || op == BinaryOp::Min) && !a.present && !b.present) return a;
  if (is_float(a.type)) return make_real(a.type, apply_real(op, a.real, b.real));
  return make_integer(a.type,
                      static_cast<int64_t>(apply_integer(op, static_cast<uint64_t>(a.integer),
                                                         static_cast<uint64_t>(b.integer))));
}

Scalar apply(ElementFunction function, const Scalar& value) {
  if (!value.present && keeps_zero(function)) return value;
  if (is_float(value.type)) return make_real(value.type, apply_real(function, value.real));
  return make_integer(value.type, static_cast<int64_t>(apply_integer(function, value.integer)));
}

}  // namespace tulle::expr
