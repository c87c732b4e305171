// From loop IR to LLVM IR.
#pragma once

#include <string>
#include <vector>

#include "codegen/module.h"
#include "loop/host.h"

namespace tulle::codegen {

// One exported function per kernel, with the signature of loop/abi.h; kernels must have passed the
// verifier. Writable buffers of one launch must not overlap any other buffer of it.
//
// Scalar `&&`, `||` and Select evaluate an operand that loads or divides only when its value is
// needed. Integer division never traps: x / 0 and x % 0 are 0, and the lowest integer divided by -1
// wraps. A shift counts modulo the width. Fma rounds once where the machine has the instruction,
// elsewhere twice.
Module emit_cpu(const std::vector<loop::Kernel>& kernels, const Target& target);

// The same for a GPU: one entry point per kernel, with the kernel's buffers and scalars as
// parameters in order, launched with the block loop's iterations as grid and loop::launched_threads
// as block (a kernel without a block loop: one thread). Buffers begin at multiples of
// loop::kDeviceAlignment. Elementary functions must have been expanded; Unsupported for one that
// was not.
Module emit_gpu(const std::vector<loop::Kernel>& kernels, const Target& target);

// The text that the driver loads.
std::string ptx(const Module& module);

}  // namespace tulle::codegen
