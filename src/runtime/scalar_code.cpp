// Compiling and evaluating the postfix form; arithmetic agrees with generated code.
#include "runtime/scalar_code.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "support/check.h"

namespace tulle::runtime {

using loop::BinaryOp;
using loop::Expr;
using loop::Function;

namespace {

constexpr int kDeepest = 64;

template <typename T>
T from_slot(int64_t slot) {
  if constexpr (std::is_same_v<T, float>) return std::bit_cast<float>(static_cast<int32_t>(slot));
  if constexpr (std::is_same_v<T, double>) return std::bit_cast<double>(slot);
  if constexpr (std::is_same_v<T, bool>) return slot != 0;
  return static_cast<T>(slot);
}

template <typename T>
int64_t to_slot(T value) {
  if constexpr (std::is_same_v<T, float>) return std::bit_cast<int32_t>(value);
  if constexpr (std::is_same_v<T, double>) return std::bit_cast<int64_t>(value);
  return static_cast<int64_t>(value);
}

// Calls `body` with a value of the C++ type that `type` names.
template <typename Body>
int64_t with_type(DType type, Body&& body) {
  switch (type) {
    case DType::Bool:
      return body(bool{});
    case DType::Int32:
      return body(int32_t{});
    case DType::Int64:
      return body(int64_t{});
    case DType::Float32:
      return body(float{});
    case DType::Float64:
      return body(double{});
    default:
      internal_error("host programs do not compute with ", name_of(type));
  }
}

// Wraps around like the machine's integers.
template <typename T>
T integer_binary(BinaryOp op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  const auto x = static_cast<U>(a), y = static_cast<U>(b);
  const int shift = static_cast<int>(y & (8 * sizeof(T) - 1));
  switch (op) {
    case BinaryOp::Add:
      return static_cast<T>(x + y);
    case BinaryOp::Sub:
      return static_cast<T>(x - y);
    case BinaryOp::Mul:
      return static_cast<T>(x * y);
    case BinaryOp::Div:
      if (b == -1) return static_cast<T>(U{0} - x);
      return b == 0 ? 0 : a / b;
    case BinaryOp::Mod:
      return b == 0 || b == -1 ? 0 : a % b;
    case BinaryOp::BitAnd:
      return a & b;
    case BinaryOp::BitOr:
      return a | b;
    case BinaryOp::BitXor:
      return a ^ b;
    case BinaryOp::Shl:
      return static_cast<T>(x << shift);
    case BinaryOp::Shr:
      return a >> shift;
    default:
      internal_error(loop::text_of(op), " of integers in a host program");
  }
}

template <typename T>
T float_binary(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a - b;
    case BinaryOp::Mul:
      return a * b;
    case BinaryOp::Div:
      return a / b;
    default:
      internal_error(loop::text_of(op), " of floating-point numbers in a host program");
  }
}

bool bool_binary(BinaryOp op, bool a, bool b) {
  switch (op) {
    case BinaryOp::And:
    case BinaryOp::BitAnd:
    case BinaryOp::Mul:
      return a && b;
    case BinaryOp::Or:
    case BinaryOp::BitOr:
    case BinaryOp::Add:
      return a || b;
    case BinaryOp::BitXor:
      return a != b;
    default:
      internal_error(loop::text_of(op), " of bools in a host program");
  }
}

template <typename T>
int64_t apply(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::Eq:
      return a == b;
    case BinaryOp::Ne:
      return a != b;
    case BinaryOp::Lt:
      return a < b;
    case BinaryOp::Le:
      return a <= b;
    case BinaryOp::Gt:
      return a > b;
    case BinaryOp::Ge:
      return a >= b;
    case BinaryOp::Min:
      return to_slot(a != a || a < b ? a : b);
    case BinaryOp::Max:
      return to_slot(a != a || a > b ? a : b);
    default:
      break;
  }
  if constexpr (std::is_same_v<T, bool>) {
    return to_slot(bool_binary(op, a, b));
  } else if constexpr (std::is_integral_v<T>) {
    return to_slot(integer_binary(op, a, b));
  } else {
    return to_slot(float_binary(op, a, b));
  }
}

// Only what sizes and scale factors need.
template <typename T>
int64_t apply(Function function, T x) {
  if constexpr (std::is_same_v<T, bool>) {
    if (function == Function::Not) return !x;
  } else if constexpr (std::is_integral_v<T>) {
    if (function == Function::Neg) return to_slot(integer_binary<T>(BinaryOp::Sub, 0, x));
    if (function == Function::Not) return to_slot(static_cast<T>(~x));
    if (function == Function::Abs)
      return x < 0 ? to_slot(integer_binary<T>(BinaryOp::Sub, 0, x)) : to_slot(x);
  } else {
    switch (function) {
      case Function::Neg:
        return to_slot(-x);
      case Function::Abs:
        return to_slot(std::abs(x));
      case Function::Sqrt:
        return to_slot(std::sqrt(x));
      case Function::Floor:
        return to_slot(std::floor(x));
      case Function::Ceil:
        return to_slot(std::ceil(x));
      case Function::Round:
        return to_slot(std::nearbyint(x));
      case Function::Trunc:
        return to_slot(std::trunc(x));
      default:
        break;
    }
  }
  internal_error("host programs do not compute ", loop::text_of(function));
}

template <typename From, typename To>
To converted(From x) {
  if constexpr (std::is_same_v<To, bool>) return x != From{};
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr auto limit = static_cast<From>(9.2e18);
    if (!(x > -limit && x < limit)) return std::numeric_limits<To>::min();
    return static_cast<To>(static_cast<int64_t>(x));
  }
  return static_cast<To>(x);
}

int64_t cast(int64_t slot, DType from, DType to) {
  return with_type(from, [&](auto x) {
    return with_type(to, [&](auto y) {
      return to_slot(converted<decltype(x), decltype(y)>(from_slot<decltype(x)>(slot)));
    });
  });
}

}  // namespace

ScalarCode::ScalarCode(const Expr& expr, const Lookup& lookup) {
  compile(expr, lookup, 1);
  if (code_.size() > 1) {
    form_ = Form::Code;
    return;
  }
  form_ = code_[0].action == Action::Slot ? Form::Slot : Form::Constant;
  operand_ = code_[0].operand;
}

// `depth` is how many values are on the stack once this one is.
void ScalarCode::compile(const Expr& expr, const Lookup& lookup, int depth) {
  TULLE_CHECK(!expr.type().is_vector(), "a vector in a host program");
  TULLE_CHECK(depth < kDeepest, "an expression of a host program is too deep");
  switch (expr->kind) {
    case loop::ExprKind::IntConst:
      code_.push_back({Action::Constant, expr.type().scalar, 0, expr.as<loop::IntConst>()->value});
      return;
    case loop::ExprKind::FloatConst: {
      const double value = expr.as<loop::FloatConst>()->value;
      const int64_t bits = cast(to_slot(value), DType::Float64, expr.type().scalar);
      code_.push_back({Action::Constant, expr.type().scalar, 0, bits});
      return;
    }
    case loop::ExprKind::Var: {
      const Meaning meaning = lookup(expr.as<loop::Var>()->name);
      if (const auto* inlined = std::get_if<Expr>(&meaning))
        return compile(*inlined, lookup, depth);
      code_.push_back({Action::Slot, expr.type().scalar, 0, std::get<int>(meaning)});
      return;
    }
    case loop::ExprKind::Binary: {
      const auto* node = expr.as<loop::Binary>();
      compile(node->a, lookup, depth);
      compile(node->b, lookup, depth + 1);
      code_.push_back({Action::Binary, node->a.type().scalar, static_cast<uint8_t>(node->op)});
      return;
    }
    case loop::ExprKind::Select: {
      const auto* node = expr.as<loop::Select>();
      compile(node->condition, lookup, depth);
      compile(node->yes, lookup, depth + 1);
      compile(node->no, lookup, depth + 2);
      code_.push_back({Action::Select, expr.type().scalar});
      return;
    }
    case loop::ExprKind::Cast: {
      const auto* node = expr.as<loop::Cast>();
      compile(node->value, lookup, depth);
      code_.push_back(
          {Action::Cast, node->value.type().scalar, static_cast<uint8_t>(expr.type().scalar)});
      return;
    }
    case loop::ExprKind::Call: {
      const auto* node = expr.as<loop::Call>();
      TULLE_CHECK(node->args.size() == 1, loop::text_of(node->function), " in a host program");
      compile(node->args[0], lookup, depth);
      code_.push_back({Action::Call, expr.type().scalar, static_cast<uint8_t>(node->function)});
      return;
    }
    default:
      internal_error(
          "an expression of a host program loads or works on lanes: only scalars are known there");
  }
}

int64_t ScalarCode::run(const int64_t* slots) const {
  std::array<int64_t, kDeepest + 2> stack;
  int64_t* top = stack.data();  // one past the last value
  for (const Instruction& step : code_) {
    switch (step.action) {
      case Action::Constant:
        *top++ = step.operand;
        break;
      case Action::Slot:
        *top++ = slots[step.operand];
        break;
      case Action::Binary: {
        const int64_t b = *--top, a = top[-1];
        top[-1] = with_type(step.type, [&](auto x) {
          using T = decltype(x);
          return apply<T>(static_cast<BinaryOp>(step.what), from_slot<T>(a), from_slot<T>(b));
        });
        break;
      }
      case Action::Select:
        top -= 2;
        top[-1] = top[-1] ? top[0] : top[1];
        break;
      case Action::Cast:
        top[-1] = cast(top[-1], step.type, static_cast<DType>(step.what));
        break;
      case Action::Call:
        top[-1] = with_type(step.type, [&](auto x) {
          using T = decltype(x);
          return apply<T>(static_cast<Function>(step.what), from_slot<T>(top[-1]));
        });
        break;
    }
  }
  return stack[0];
}

}  // namespace tulle::runtime
