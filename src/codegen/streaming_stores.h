// Nontemporal stores on NVIDIA GPUs.
#pragma once

namespace llvm {
class Function;
}

namespace tulle::codegen {

// Replaces stores marked as nontemporal by st.global.cs, for which LLVM's back end has no
// instruction. Vectors of unknown alignment remain ordinary stores.
void emit_streaming_stores(llvm::Function& function);

}  // namespace tulle::codegen
