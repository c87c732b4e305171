// The precedence of the binary operators in the loop IR's text, as in C.
#pragma once

#include "loop/expr.h"

namespace tulle::loop {

inline constexpr int kLoosest = 1;

// kLoosest or higher; 0 for operators written as functions (min, max).
constexpr int precedence_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::Min:
    case BinaryOp::Max:
      return 0;
    case BinaryOp::Or:
      return kLoosest;
    case BinaryOp::And:
      return 2;
    case BinaryOp::BitOr:
      return 3;
    case BinaryOp::BitXor:
      return 4;
    case BinaryOp::BitAnd:
      return 5;
    case BinaryOp::Eq:
    case BinaryOp::Ne:
      return 6;
    case BinaryOp::Lt:
    case BinaryOp::Le:
    case BinaryOp::Gt:
    case BinaryOp::Ge:
      return 7;
    case BinaryOp::Shl:
    case BinaryOp::Shr:
      return 8;
    case BinaryOp::Add:
    case BinaryOp::Sub:
      return 9;
    case BinaryOp::Mul:
    case BinaryOp::Div:
    case BinaryOp::Mod:
      return 10;
  }
  return 0;
}

}  // namespace tulle::loop
