// Atomics on NVIDIA's GPUs whose old value nobody wants.
#pragma once

namespace llvm {
class Function;
}

namespace tulle::codegen {

// Turns atomics on global memory whose result is not used into red, for which no thread waits. The
// back end writes atom for all of them, and the assembler in the driver, which links, keeps that.
void emit_blind_atomics(llvm::Function& function);

}  // namespace tulle::codegen
