// The interpreter's arithmetic, with one loop per operator and kind of number.
#include "loop/interpret/word.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "support/check.h"
#include "support/half.h"

namespace tulle::loop {

namespace {

template <typename T>
T read_as(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void write_as(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof(T));
}

// Wraps or rounds to the type. Values in range do not change.
int64_t fit(DType type, int64_t value) {
  return type == DType::Int32 ? static_cast<int32_t>(value) : value;
}
double fit(DType type, double value) {
  if (is_half(type)) return round_to_half(type, value);
  return type == DType::Float32 ? static_cast<float>(value) : value;
}

template <typename Operation>
void each_int(DType type, const Word* a, const Word* b, Word* out, size_t count,
              Operation operation) {
  for (size_t k = 0; k < count; ++k) out[k].i = fit(type, operation(a[k].i, b[k].i));
}

template <typename Operation>
void each_float(DType type, const Word* a, const Word* b, Word* out, size_t count,
                Operation operation) {
  for (size_t k = 0; k < count; ++k) out[k].f = fit(type, operation(a[k].f, b[k].f));
}

template <typename Operation>
void each_test(bool is_float, const Word* a, const Word* b, Word* out, size_t count,
               Operation operation) {
  for (size_t k = 0; k < count; ++k) {
    out[k].i = is_float ? operation(a[k].f, b[k].f) : operation(a[k].i, b[k].i);
  }
}

template <typename Operation>
int64_t wrapping(int64_t a, int64_t b, Operation operation) {
  return static_cast<int64_t>(operation(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
}

int64_t divide(int64_t a, int64_t b) {
  if (b == -1) return wrapping(0, a, std::minus<>());
  return b == 0 ? 0 : a / b;
}

int64_t modulo(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

double minimum_of(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

double maximum_of(double a, double b) { return -minimum_of(-a, -b); }

int64_t shift_count(DType type, int64_t count) { return count & (8 * size_of(type) - 1); }

int64_t shift_left(DType type, int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) << shift_count(type, b));
}

int64_t shift_right(DType type, int64_t a, int64_t b) { return a >> shift_count(type, b); }

void apply_comparison(BinaryOp op, bool is_float, const Word* a, const Word* b, Word* out,
                      size_t count) {
  switch (op) {
    case BinaryOp::Eq:
      return each_test(is_float, a, b, out, count, std::equal_to<>());
    case BinaryOp::Ne:
      return each_test(is_float, a, b, out, count, std::not_equal_to<>());
    case BinaryOp::Lt:
      return each_test(is_float, a, b, out, count, std::less<>());
    case BinaryOp::Le:
      return each_test(is_float, a, b, out, count, std::less_equal<>());
    case BinaryOp::Gt:
      return each_test(is_float, a, b, out, count, std::greater<>());
    case BinaryOp::Ge:
      return each_test(is_float, a, b, out, count, std::greater_equal<>());
    default:
      internal_error(text_of(op), " is no comparison");
  }
}

void apply_float(BinaryOp op, DType type, const Word* a, const Word* b, Word* out, size_t count) {
  switch (op) {
    case BinaryOp::Add:
      return each_float(type, a, b, out, count, std::plus<>());
    case BinaryOp::Sub:
      return each_float(type, a, b, out, count, std::minus<>());
    case BinaryOp::Mul:
      return each_float(type, a, b, out, count, std::multiplies<>());
    case BinaryOp::Div:
      return each_float(type, a, b, out, count, std::divides<>());
    case BinaryOp::Min:
      return each_float(type, a, b, out, count, minimum_of);
    case BinaryOp::Max:
      return each_float(type, a, b, out, count, maximum_of);
    default:
      internal_error(text_of(op), " of ", name_of(type));
  }
}

void apply_int(BinaryOp op, DType type, const Word* a, const Word* b, Word* out, size_t count) {
  const auto each = [&](auto operation) { each_int(type, a, b, out, count, operation); };
  const auto wrap = [&](auto operation) {
    each([=](int64_t x, int64_t y) { return wrapping(x, y, operation); });
  };
  switch (op) {
    case BinaryOp::Add:
      return type == DType::Bool ? wrap(std::bit_or<>()) : wrap(std::plus<>());
    case BinaryOp::Sub:
      return wrap(std::minus<>());
    case BinaryOp::Mul:
      return type == DType::Bool ? wrap(std::bit_and<>()) : wrap(std::multiplies<>());
    case BinaryOp::Div:
      return each(divide);
    case BinaryOp::Mod:
      return each(modulo);
    case BinaryOp::Min:
      return each([](int64_t x, int64_t y) { return x < y ? x : y; });
    case BinaryOp::Max:
      return each([](int64_t x, int64_t y) { return x < y ? y : x; });
    case BinaryOp::And:
    case BinaryOp::BitAnd:
      return wrap(std::bit_and<>());
    case BinaryOp::Or:
    case BinaryOp::BitOr:
      return wrap(std::bit_or<>());
    case BinaryOp::BitXor:
      return wrap(std::bit_xor<>());
    case BinaryOp::Shl:
      return each([=](int64_t x, int64_t y) { return shift_left(type, x, y); });
    case BinaryOp::Shr:
      return each([=](int64_t x, int64_t y) { return shift_right(type, x, y); });
    default:
      internal_error(text_of(op), " of ", name_of(type));
  }
}

double call_float(Function function, DType type, double x, double y, double z) {
  switch (function) {
    case Function::Neg:
      return -x;
    case Function::Abs:
      return std::fabs(x);
    case Function::Sqrt:
      return std::sqrt(x);
    case Function::Floor:
      return std::floor(x);
    case Function::Ceil:
      return std::ceil(x);
    case Function::Round:
      return std::nearbyint(x);
    case Function::Trunc:
      return std::trunc(x);
    case Function::Sin:
      return std::sin(x);
    case Function::Tan:
      return std::tan(x);
    case Function::Asin:
      return std::asin(x);
    case Function::Atan:
      return std::atan(x);
    case Function::Sinh:
      return std::sinh(x);
    case Function::Tanh:
      return std::tanh(x);
    case Function::Asinh:
      return std::asinh(x);
    case Function::Atanh:
      return std::atanh(x);
    case Function::Expm1:
      return std::expm1(x);
    case Function::Log1p:
      return std::log1p(x);
    case Function::Erf:
      return std::erf(x);
    case Function::Exp:
    case Function::Decay:
      return std::exp(x);
    case Function::Log:
      return std::log(x);
    case Function::Cos:
      return std::cos(x);
    case Function::Cosh:
      return std::cosh(x);
    case Function::Exp2:
      return std::exp2(static_cast<float>(x));
    case Function::Pow2:
      return std::ldexp(1.0, static_cast<int>(std::fmin(std::fmax(x, -1022.0), 1023.0)));
    case Function::Exponent:
      return std::isfinite(x) && x != 0 ? std::logb(x) : 0;
    case Function::Mantissa:
      return std::isfinite(x) && x != 0 ? std::ldexp(x, -std::ilogb(x)) : 1;
    case Function::Sigmoid:
      return 1 / (1 + std::exp(-x));
    case Function::Fma:
      if (type == DType::Float64) return std::fma(x, y, z);
      return std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z));
    case Function::Not:
      break;
  }
  internal_error(text_of(function), " of ", name_of(type));
}

int64_t call_int(Function function, DType type, int64_t x, int64_t y, int64_t z) {
  switch (function) {
    case Function::Neg:
      return wrapping(0, x, std::minus<>());
    case Function::Abs:
      return x < 0 ? wrapping(0, x, std::minus<>()) : x;
    case Function::Not:
      return type == DType::Bool ? !x : ~x;
    case Function::Fma:
      return wrapping(wrapping(x, y, std::multiplies<>()), z, std::plus<>());
    default:
      internal_error(text_of(function), " of ", name_of(type));
  }
}

int64_t truncate(DType to, double value) {
  if (std::isnan(value)) return 0;
  const double low = to == DType::Int32 ? std::numeric_limits<int32_t>::min() : -0x1p63;
  const double high = to == DType::Int32 ? std::numeric_limits<int32_t>::max() : 0x1p63;
  if (value <= low) return static_cast<int64_t>(low);
  if (value < high) return static_cast<int64_t>(value);
  return to == DType::Int32 ? std::numeric_limits<int32_t>::max()
                            : std::numeric_limits<int64_t>::max();
}

BinaryOp binary_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::Add:
      return BinaryOp::Add;
    case ReduceOp::Mul:
      return BinaryOp::Mul;
    case ReduceOp::Min:
      return BinaryOp::Min;
    case ReduceOp::Max:
      return BinaryOp::Max;
    case ReduceOp::And:
      return BinaryOp::BitAnd;
    case ReduceOp::Or:
      return BinaryOp::BitOr;
  }
  internal_error("a reduction of unknown kind");
}

}  // namespace

Word read_word(DType type, const std::byte* from) {
  switch (type) {
    case DType::Bool:
      return {.i = read_as<uint8_t>(from) != 0};
    case DType::Int32:
      return {.i = read_as<int32_t>(from)};
    case DType::Int64:
      return {.i = read_as<int64_t>(from)};
    case DType::Float32:
      return {.f = read_as<float>(from)};
    case DType::Float64:
      return {.f = read_as<double>(from)};
    case DType::Float16:
    case DType::BFloat16:
      return {.f = widen_half(type, read_as<uint16_t>(from))};
  }
  internal_error("a value of unknown type");
}

void write_word(DType type, Word value, std::byte* to) {
  switch (type) {
    case DType::Bool:
      return write_as(static_cast<uint8_t>(value.i != 0), to);
    case DType::Int32:
      return write_as(static_cast<int32_t>(value.i), to);
    case DType::Int64:
      return write_as(value.i, to);
    case DType::Float32:
      return write_as(static_cast<float>(value.f), to);
    case DType::Float64:
      return write_as(value.f, to);
    case DType::Float16:
    case DType::BFloat16:
      return write_as(narrow_to_half(type, value.f), to);
  }
}

void apply(BinaryOp op, DType type, const Word* a, const Word* b, Word* out, size_t count) {
  if (is_comparison(op)) return apply_comparison(op, is_float(type), a, b, out, count);
  return is_float(type) ? apply_float(op, type, a, b, out, count)
                        : apply_int(op, type, a, b, out, count);
}

void apply(Function function, DType type, const Word* const* args, Word* out, size_t count) {
  const bool three = arguments_of(function) == 3;
  const Word* y = three ? args[1] : args[0];
  const Word* z = three ? args[2] : args[0];
  for (size_t k = 0; k < count; ++k) {
    if (is_float(type)) {
      out[k].f = fit(type, call_float(function, type, args[0][k].f, y[k].f, z[k].f));
    } else {
      out[k].i = fit(type, call_int(function, type, args[0][k].i, y[k].i, z[k].i));
    }
  }
}

void convert(DType from, DType to, const Word* in, Word* out, size_t count) {
  for (size_t k = 0; k < count; ++k) {
    if (to == DType::Bool) {
      out[k].i = is_float(from) ? in[k].f != 0 : in[k].i != 0;
    } else if (is_float(from)) {
      if (is_float(to)) {
        out[k].f = fit(to, in[k].f);
      } else {
        out[k].i = truncate(to, in[k].f);
      }
    } else if (to == DType::Float32) {
      out[k].f = static_cast<float>(in[k].i);  // directly: via f64 it would round twice
    } else if (to == DType::Float64) {
      out[k].f = static_cast<double>(in[k].i);
    } else if (is_half(to)) {
      out[k].f = fit(to, static_cast<double>(in[k].i));
    } else {
      out[k].i = fit(to, in[k].i);
    }
  }
}

Word combine(ReduceOp op, DType type, Word a, Word b) {
  Word result;
  apply(binary_of(op), type, &a, &b, &result, 1);
  return result;
}

Word reduce(ReduceOp op, DType type, const Word* values, size_t count) {
  std::vector<Word> partial(values, values + count);
  while (partial.size() > 1) {
    const size_t half = (partial.size() + 1) / 2;
    for (size_t k = half; k < partial.size(); ++k) {
      partial[k - half] = combine(op, type, partial[k - half], partial[k]);
    }
    partial.resize(half);
  }
  return partial[0];
}

}  // namespace tulle::loop
