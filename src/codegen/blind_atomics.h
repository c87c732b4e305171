// Atomics without a result on NVIDIA GPUs.
#pragma once

namespace llvm {
class Function;
}

namespace tulle::codegen {

// Replaces atomics on global memory whose result is unused by `red`, for which no thread waits.
// LLVM's back end emits `atom` for all atomics, and the driver's assembler keeps `atom` in
// relocatable code.
void emit_blind_atomics(llvm::Function& function);

}  // namespace tulle::codegen
