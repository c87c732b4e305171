// Scalar arithmetic with the semantics of generated code, for constant folding and for the host.
#pragma once

#include <optional>
#include <type_traits>

#include "loop/expr.h"

namespace tulle::loop {

template <typename T>
constexpr bool compare(BinaryOp op, T a, T b) {
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
    default:
      return a >= b;
  }
}

// Nothing if the operator is undefined for these operands.
constexpr std::optional<bool> compute(BinaryOp op, bool a, bool b) {
  switch (op) {
    case BinaryOp::And:
    case BinaryOp::BitAnd:
    case BinaryOp::Mul:
    case BinaryOp::Min:
      return a && b;
    case BinaryOp::Or:
    case BinaryOp::BitOr:
    case BinaryOp::Add:
    case BinaryOp::Max:
      return a || b;
    case BinaryOp::BitXor:
      return a != b;
    default:
      return std::nullopt;
  }
}

// Integers wrap around as on the machine.
template <typename T>
  requires std::is_integral_v<T>
constexpr std::optional<T> compute(BinaryOp op, T a, T b) {
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
      return b == 0 ? T{0} : static_cast<T>(a / b);
    case BinaryOp::Mod:
      return b == 0 || b == -1 ? T{0} : static_cast<T>(a % b);
    case BinaryOp::Min:
      return a < b ? a : b;
    case BinaryOp::Max:
      return a < b ? b : a;
    case BinaryOp::BitAnd:
      return a & b;
    case BinaryOp::BitOr:
      return a | b;
    case BinaryOp::BitXor:
      return a ^ b;
    case BinaryOp::Shl:
      return static_cast<T>(x << shift);
    case BinaryOp::Shr:
      return static_cast<T>(a >> shift);
    default:
      return std::nullopt;
  }
}

// `min` and `max` return a NaN on the left.
template <typename T>
  requires std::is_floating_point_v<T>
constexpr std::optional<T> compute(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a - b;
    case BinaryOp::Mul:
      return a * b;
    case BinaryOp::Div:
      return a / b;
    case BinaryOp::Min:
      return a != a || a < b ? a : b;
    case BinaryOp::Max:
      return a != a || a > b ? a : b;
    default:
      return std::nullopt;
  }
}

}  // namespace tulle::loop
