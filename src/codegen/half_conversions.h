// Conversions between the bits of f16 or bf16 and f32.
#pragma once

#include "codegen/emit_context.h"

namespace tulle::codegen {

class HalfConversions {
 public:
  explicit HalfConversions(EmitContext& shared)
      : builder_(shared.function.instructions), target_(shared.target) {}

  llvm::Value* widen(llvm::Value* bits, DType half);
  llvm::Value* narrow(llvm::Value* value, DType half);

 private:
  llvm::IRBuilder<>& builder_;
  TargetCode& target_;
};

}  // namespace tulle::codegen
