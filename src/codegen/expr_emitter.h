// Expressions of the loop IR.
#pragma once

#include "codegen/arithmetic.h"

namespace tulle::codegen {

class MemoryEmitter;

class ExprEmitter {
 public:
  ExprEmitter(EmitContext& shared, Arithmetic& arithmetic, MemoryEmitter& memory)
      : function_(shared.function),
        builder_(shared.function.instructions),
        names_(shared.names),
        target_(shared.target),
        arithmetic_(arithmetic),
        memory_(memory) {}

  llvm::Value* value(const loop::Expr& expr);

 private:
  llvm::Value* logical(loop::BinaryOp op, const loop::Expr& a, const loop::Expr& b);
  llvm::Value* select(const loop::Select& expr);

  FunctionBuilder& function_;
  llvm::IRBuilder<>& builder_;
  Bindings& names_;
  TargetCode& target_;
  Arithmetic& arithmetic_;
  MemoryEmitter& memory_;
};

}  // namespace tulle::codegen
