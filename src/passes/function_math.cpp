// Range reductions and polynomials.
#include "passes/function_math.h"

#include <limits>
#include <span>

#include "passes/function_coefficients.h"

namespace tulle::passes {

using namespace loop;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLog2e = 1.4426950408889634074;

Expr operator/(const Expr& a, const Expr& b) { return Binary::make(BinaryOp::Div, a, b); }

class Math {
 public:
  Math(Type type, const Binder& bind, Backend backend)
      : type_(type),
        is_double_(type.scalar == DType::Float64),
        has_exp2_(is_gpu(backend) && !is_double_),
        bind_(bind) {}

  Expr exp(const Expr& x) const {
    if (has_exp2_) return exp_by_exp2(x);
    const Reduced reduced = reduce(clamp(x, choose(-104, -746), choose(89, 710)));
    return scaled(let("e", number(1) + rest(reduced)), reduced.exponent);
  }

  // The rounding error of the product grows with x, while its weight in the result shrinks faster.
  Expr decay(const Expr& x) const {
    return has_exp2_ ? call(Function::Exp2, x * number(kLog2e)) : exp(x);
  }

  // If the exponent is 0, the reduced argument is x. Otherwise the operands are not small.
  Expr expm1(const Expr& x) const {
    const Reduced reduced = reduce(clamp(x, choose(-20, -40), choose(89, 710)));
    const Expr small = rest(reduced);
    const Expr half = let("half", call(Function::Pow2, reduced.exponent - number(1)));
    const Expr large = (half * small + (half - number(0.5))) * number(2);
    return select(x == number(0), x, select(reduced.exponent == number(0), small, large));
  }

  Expr log(const Expr& x) const {
    const Expr value = log_of_positive(x, {});
    const Expr below = select(x == number(0), number(-kInfinity), number(kNan));
    return select(number(0) < x, select(x < number(kInfinity), value, x), below);
  }

  // log(u) + (rounding error of u = 1 + x) / u.
  Expr log1p(const Expr& x) const {
    const Expr u = let("u", number(1) + x);
    const Expr t = let("t", u - number(1));
    const Expr left_out = let("left_out", (number(1) - (u - t)) + (x - t));
    const Expr value = log_of_positive(u, Binary::make(BinaryOp::Div, left_out, u));
    const Expr below = select(x == number(-1), number(-kInfinity), number(kNan));
    const Expr above = select(x < number(kInfinity), value, x);
    return select(x == number(0), x, select(number(-1) < x, above, below));
  }

  Expr tanh(const Expr& x) const {
    const Expr size = let("size", call(Function::Abs, x));
    const Expr square = let("square", x * x);
    const Expr near = x * (number(1) + square * polynomial(square, kTanh32, kTanh64));
    const Expr power = let("power", exp(let("twice", minimum(size, number(20)) * number(2))));
    const Expr far = let("far", number(1) - number(2) / (power + number(1)));
    return select(size < number(0.55), near, with_sign(far, x));
  }

  Expr sigmoid(const Expr& x) const {
    const Reduced reduced =
        reduce(maximum(let("minus", negated(call(Function::Abs, x))), number(choose(-104, -746))));
    // exp(-|x|), and the rounding errors of its last step and of the sum.
    const Expr small = rest(reduced);
    const Expr mantissa = let("e", number(1) + small);
    const Expr power = let("power", scaled(mantissa, reduced.exponent));
    const Expr low = let("low", scaled(small - (mantissa - number(1)), reduced.exponent));
    const Expr sum = let("sum", number(1) + power);
    const Expr missing = let("missing", (power - (sum - number(1))) + low);
    const Expr is_negative = let("is_negative", x < number(0));
    const Expr ratio = let("ratio", select(is_negative, power, number(1)) / sum);
    const Expr inverse = select(is_negative, number(1) - ratio, ratio);
    const Expr first = select(is_negative, low, number(0));
    return ratio + inverse * (first - ratio * missing);
  }

  Expr cosh(const Expr& x) const {
    const Expr half = half_exp(x);
    return half + number(0.25) / half;
  }

  Expr sinh(const Expr& x) const {
    const Expr square = let("square", x * x);
    const Expr near = x + x * (square * polynomial(square, kSinh32, kSinh64));
    const Expr half = half_exp(x);
    const Expr far = let("far", half - number(0.25) / half);
    return select(square < number(1), near, with_sign(far, x));
  }

  Expr erf(const Expr& x) const {
    const Expr square = let("square", x * x);
    const Expr near = x + x * polynomial(square, kErf32, kErf64);
    const Expr size = let("size", minimum(call(Function::Abs, x), number(choose(4, 6))));
    const Expr t = let("t", (size - number(2)) / (size + number(2)));
    const Expr power = let("power", exp(let("minus", negated(size * size))));
    const Expr far = let("far", number(1) - power * polynomial(t, kErfc32, kErfc64));
    return select(square < number(0.8556), near, with_sign(far, x));
  }

 private:
  // 2^r * 2^k, where x * log2(e) = k + r. Usually |r| <= 1/2. For results outside the range of
  // normal numbers, k is clamped and r takes the remainder: 2^r is then infinite, 0, or so small
  // that the product is subnormal and rounds once. Both parts of log2(e) are positive, so that
  // infinities of opposite sign cannot meet.
  Expr exp_by_exp2(const Expr& x) const {
    const Expr high = number(1.44269502162933349609375), low = number(1.92596303350061153e-8);
    // Adding this number rounds to an integer. Round is several times slower.
    const Expr integers = number(12582912);  // 1.5 * 2^23
    const Expr nearest = let("k", fma(x, high, integers) - integers);
    const Expr exponent = let("k", clamp(nearest, -126, 127));
    const Expr rest = let("r", fma(x, low, fma(x, high, negated(exponent))));
    return call(Function::Exp2, rest) * call(Function::Pow2, exponent);
  }

  // x = exponent * log(2) + rest, with |rest| <= log(2) / 2.
  struct Reduced {
    Expr exponent, rest;
  };

  Reduced reduce(const Expr& clamped) const {
    // The first part of log(2) has few digits, so that its products are exact.
    const Expr high = number(choose(0.693359375, 6.93145751953125e-1));
    const Expr low = number(choose(-2.12194440054690583e-4, 1.42860682030941723212e-6));
    const Expr x = let("x", clamped);
    const Expr exponent = let("k", call(Function::Round, x * number(kLog2e)));
    return {exponent, let("r", (x - exponent * high) - exponent * low)};
  }

  // exp(r) - 1
  Expr rest(const Reduced& reduced) const {
    const Expr& r = reduced.rest;
    const Expr tail = polynomial(r, kExpm132, kExpm164);
    return let("small", r + (r * r) * tail);
  }

  // value * 2^exponent in two steps, because 2^exponent may be subnormal or overflow.
  Expr scaled(const Expr& value, const Expr& exponent) const {
    const Expr first = let("first", call(Function::Floor, exponent * number(0.5)));
    const Expr second = let("second", exponent - first);
    return (value * call(Function::Pow2, first)) * call(Function::Pow2, second);
  }

  // exp(|x|) / 2
  Expr half_exp(const Expr& x) const {
    const Reduced reduced = reduce(minimum(call(Function::Abs, x), number(choose(90, 711))));
    const Expr power = let("e", number(1) + rest(reduced));
    return let("half_exp", scaled(power, let("k_half", reduced.exponent - number(1))));
  }

  // x = 2^e * m with m near 1, f = m - 1, s = f / (2 + f): log(m) = 2 s + s^3 (2/3 + ...). Adds
  // `more` unless it is null.
  Expr log_of_positive(const Expr& x, const Expr& more) const {
    const Expr is_small =
        let("is_small", x < number(choose(1.17549435e-38, 2.2250738585072014e-308)));
    const double shift = choose(25, 54);
    const Expr normal =
        let("normal", select(is_small, x * number(choose(33554432.0, 18014398509481984.0)), x));
    const Expr mantissa = let("mantissa", call(Function::Mantissa, normal));
    const Expr is_large = let("is_large", number(1.41421356237309504880) < mantissa);
    const Expr moved =
        select(is_small, number(-shift), number(0)) + select(is_large, number(1), number(0));
    const Expr e = let("e", call(Function::Exponent, normal) + moved);
    const Expr f = let("f", select(is_large, mantissa * number(0.5), mantissa) - number(1));
    const Expr s = let("s", f / (number(2) + f));
    const Expr z = let("z", s * s);
    const Expr half = let("half", (f * f) * number(0.5));
    const Expr tail = let("tail", z * polynomial(z, kLog32, kLog64));
    const Expr high = number(choose(6.9313812256e-01, 6.93147180369123816490e-01));
    const Expr low = number(choose(9.0580006145e-06, 1.90821492927058770002e-10));
    Expr correction = s * (half + tail) + e * low;
    if (more) correction = correction + more;
    return e * high - ((half - correction) - f);
  }

  template <size_t m, size_t n>
  Expr polynomial(const Expr& x, const std::array<double, m>& single,
                  const std::array<double, n>& twice) const {
    const std::span<const double> coefficients =
        is_double_ ? std::span<const double>(twice) : std::span<const double>(single);
    Expr sum = number(coefficients.back());
    for (size_t at = coefficients.size() - 1; at-- > 0;) sum = sum * x + number(coefficients[at]);
    return let("sum", sum);
  }

  double choose(double single, double twice) const { return is_double_ ? twice : single; }
  Expr number(double value) const {
    const Expr scalar = FloatConst::make(value, {type_.scalar, 1});
    return type_.is_vector() ? Broadcast::make(scalar, type_.lanes) : scalar;
  }
  Expr let(const std::string& wish, const Expr& value) const { return bind_(wish, value); }
  static Expr call(Function function, const Expr& x) { return Call::make(function, {x}); }
  static Expr fma(const Expr& a, const Expr& b, const Expr& c) {
    return Call::make(Function::Fma, {a, b, c});
  }
  static Expr negated(const Expr& x) { return call(Function::Neg, x); }
  static Expr select(const Expr& condition, const Expr& yes, const Expr& no) {
    return Select::make(condition, yes, no);
  }
  Expr clamp(const Expr& x, double low, double high) const {
    return maximum(minimum(x, number(high)), number(low));
  }
  Expr with_sign(const Expr& size, const Expr& x) const {
    return select(x < number(0), negated(size), size);
  }

  Type type_;
  bool is_double_, has_exp2_;
  const Binder& bind_;
};

}  // namespace

Expr write_out(Function function, const Expr& x, const Binder& bind, Backend backend) {
  const DType scalar = x.type().scalar;
  if (scalar != DType::Float32 && scalar != DType::Float64) return {};
  const Math math(x.type(), bind, backend);
  switch (function) {
    case Function::Exp:
      return math.exp(x);
    case Function::Decay:
      return math.decay(x);
    case Function::Expm1:
      return math.expm1(x);
    case Function::Log:
      return math.log(x);
    case Function::Log1p:
      return math.log1p(x);
    case Function::Tanh:
      return math.tanh(x);
    case Function::Sigmoid:
      return math.sigmoid(x);
    case Function::Cosh:
      return math.cosh(x);
    case Function::Sinh:
      return math.sinh(x);
    case Function::Erf:
      return math.erf(x);
    default:
      return {};
  }
}

}  // namespace tulle::passes
