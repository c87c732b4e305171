// Loads, stores and the addresses of atomics.
#pragma once

#include "codegen/atomic_emitter.h"

namespace tulle::codegen {

class ExprEmitter;

class MemoryEmitter {
 public:
  MemoryEmitter(EmitContext& shared, Arithmetic& arithmetic, ExprEmitter& exprs)
      : function_(shared.function),
        builder_(shared.function.instructions),
        names_(shared.names),
        target_(shared.target),
        exprs_(exprs),
        atomics_(shared, arithmetic) {}

  llvm::Value* load(const loop::Load& expr);
  void store(const loop::Store& stmt);
  void atomic(const loop::Atomic& stmt);
  llvm::Value* address(const loop::BufferNode& buffer, llvm::Value* index, bool in_bounds);

 private:
  llvm::Value* load_lanes(const loop::Load& expr, llvm::Value* predicate);
  llvm::Value* load_one(const loop::Load& expr, llvm::Value* index);
  void mark_load(llvm::Instruction* instruction, const loop::BufferNode& buffer);

  FunctionBuilder& function_;
  llvm::IRBuilder<>& builder_;
  Bindings& names_;
  TargetCode& target_;
  ExprEmitter& exprs_;
  AtomicEmitter atomics_;
};

}  // namespace tulle::codegen
