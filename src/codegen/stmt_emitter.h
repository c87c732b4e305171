// Statements of the loop IR.
#pragma once

#include "codegen/expr_emitter.h"
#include "codegen/memory_emitter.h"

namespace tulle::codegen {

class StmtEmitter {
 public:
  StmtEmitter(EmitContext& shared, ExprEmitter& exprs, MemoryEmitter& memory)
      : function_(shared.function),
        builder_(shared.function.instructions),
        names_(shared.names),
        target_(shared.target),
        exprs_(exprs),
        memory_(memory) {}

  void statement(const loop::Stmt& stmt);
  void serial_loop(const loop::For& loop, llvm::Value* begin, llvm::Value* end);

 private:
  void declare(const loop::Declare& stmt);
  void assign(const loop::Assign& stmt);
  void local_array(const loop::Allocate& stmt);
  void while_loop(const loop::While& loop);

  FunctionBuilder& function_;
  llvm::IRBuilder<>& builder_;
  Bindings& names_;
  TargetCode& target_;
  ExprEmitter& exprs_;
  MemoryEmitter& memory_;
};

}  // namespace tulle::codegen
