// Atomic updates of elements in memory.
#pragma once

#include "codegen/arithmetic.h"

namespace tulle::codegen {

class AtomicEmitter {
 public:
  AtomicEmitter(EmitContext& shared, Arithmetic& arithmetic)
      : function_(shared.function),
        builder_(shared.function.instructions),
        target_(shared.target),
        arithmetic_(arithmetic) {}

  // Updates the element, or the elements of a vector, at `pointer`. Returns the element's old
  // value in memory; null for vectors, and for a minimum or maximum whose old value is unused.
  llvm::Value* update(const loop::Atomic& stmt, llvm::Value* pointer, llvm::Value* operand);

 private:
  llvm::Value* update_element(const loop::Atomic& stmt, llvm::Value* pointer, llvm::Value* operand);
  llvm::Value* compare_exchange(const loop::Atomic& stmt, llvm::Value* pointer,
                                llvm::Value* operand);
  // A minimum or maximum by atomics on the bits of the number.
  void update_extreme(const loop::Atomic& stmt, llvm::Value* pointer, llvm::Value* operand);

  FunctionBuilder& function_;
  llvm::IRBuilder<>& builder_;
  TargetCode& target_;
  Arithmetic& arithmetic_;
};

}  // namespace tulle::codegen
