// Emits kernels of the loop IR as LLVM IR. A target derives from it and adds its entry points.
#pragma once

#include "codegen/stmt_emitter.h"

namespace tulle::codegen {

class LlvmEmitter : public TargetCode {
 public:
  explicit LlvmEmitter(llvm::Module& module)
      : shared_{FunctionBuilder(module), {}, *this},
        arithmetic_(shared_),
        exprs_(shared_, arithmetic_, memory_),
        memory_(shared_, arithmetic_, exprs_),
        stmts_(shared_, exprs_, memory_) {}
  LlvmEmitter(const LlvmEmitter&) = delete;
  LlvmEmitter& operator=(const LlvmEmitter&) = delete;

 private:
  EmitContext shared_;

 protected:
  // Starts a function without names in scope.
  void begin_function(llvm::Function* function) {
    names_.clear();
    function_.begin(function);
  }

  FunctionBuilder& function_ = shared_.function;
  Bindings& names_ = shared_.names;
  llvm::Module& module_ = function_.module;
  llvm::LLVMContext& context_ = function_.context;
  llvm::IRBuilder<>& builder_ = function_.instructions;
  // The emitters of the parts of a kernel, which call one another.
  Arithmetic arithmetic_;
  ExprEmitter exprs_;
  MemoryEmitter memory_;
  StmtEmitter stmts_;
};

}  // namespace tulle::codegen
