// Maps reductions to binary operations.
#pragma once

#include "loop/expr.h"

namespace tulle::passes {

// The binary operation that combines two partial results.
inline loop::BinaryOp binary_of(loop::ReduceOp op) {
  using loop::BinaryOp;
  constexpr BinaryOp operations[] = {BinaryOp::Add, BinaryOp::Mul, BinaryOp::Min,
                                     BinaryOp::Max, BinaryOp::And, BinaryOp::Or};
  return operations[static_cast<size_t>(op)];
}

}  // namespace tulle::passes
