// Arithmetic, comparisons, conversions, functions and reductions of LLVM values.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include "codegen/half_conversions.h"

namespace tulle::codegen {

class Arithmetic {
 public:
  explicit Arithmetic(EmitContext& shared)
      : function_(shared.function),
        builder_(shared.function.instructions),
        target_(shared.target),
        halves_(shared) {}

  llvm::Constant* float_constant(loop::Type type, double value) const;
  llvm::Value* binary(loop::BinaryOp op, llvm::Value* a, llvm::Value* b, loop::Type type);
  llvm::Value* compare(loop::BinaryOp op, llvm::Value* a, llvm::Value* b, loop::Type type);
  llvm::Value* cast(llvm::Value* value, loop::Type from, loop::Type to);
  llvm::Value* call(const loop::Call& expr, llvm::ArrayRef<llvm::Value*> args);
  llvm::Value* combine(loop::ReduceOp op, llvm::Value* a, llvm::Value* b, loop::Type type);
  llvm::Value* vector_reduce(loop::ReduceOp op, llvm::Value* value, loop::Type type);

 private:
  llvm::Value* divide(loop::BinaryOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* extremum(bool is_max, llvm::Value* a, llvm::Value* b, loop::Type type);
  // Pow2, Exponent and Mantissa, by operations on the bits of a floating-point number.
  llvm::Value* take_apart(loop::Function function, llvm::Value* x);

  FunctionBuilder& function_;
  llvm::IRBuilder<>& builder_;
  TargetCode& target_;
  HalfConversions halves_;
};

}  // namespace tulle::codegen
