// Nontemporal stores on NVIDIA's GPUs.
#pragma once

namespace llvm {
class Function;
}

namespace tulle::codegen {

// Turns stores marked as nontemporal into st.global.cs, which the back end has no instruction of
// its own for. Vectors whose alignment is not known stay ordinary stores.
void emit_streaming_stores(llvm::Function& function);

}  // namespace tulle::codegen
