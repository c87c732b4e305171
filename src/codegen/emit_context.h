// The state that the emitters of one module share.
#pragma once

#include "codegen/bindings.h"
#include "codegen/function_builder.h"
#include "codegen/target_code.h"

namespace tulle::codegen {

struct EmitContext {
  FunctionBuilder function;
  Bindings names;
  TargetCode& target;
};

}  // namespace tulle::codegen
