// Compiles and evaluates the postfix code. Its arithmetic agrees with generated code.
#include "runtime/scalar_code.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "loop/arithmetic.h"
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

// Calls `body` with a value of the C++ type that corresponds to `type`.
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

template <typename T>
int64_t apply(BinaryOp op, T a, T b) {
  if (loop::is_comparison(op)) return loop::compare(op, a, b);
  const auto result = loop::compute(op, a, b);
  if (!result) internal_error(loop::text_of(op), " of such numbers in a host program");
  return to_slot(*result);
}

// Evaluates the functions that sizes and scale factors need.
template <typename T>
int64_t apply(Function function, T x) {
  if constexpr (std::is_same_v<T, bool>) {
    if (function == Function::Not) return !x;
  } else if constexpr (std::is_integral_v<T>) {
    const auto negated = [&] { return apply<T>(BinaryOp::Sub, 0, x); };
    if (function == Function::Neg) return negated();
    if (function == Function::Not) return to_slot(static_cast<T>(~x));
    if (function == Function::Abs) return x < 0 ? negated() : to_slot(x);
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

// `depth` is the height of the stack after this value is pushed.
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
