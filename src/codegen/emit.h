// Emits loop IR as LLVM IR.
#pragma once

#include <string>
#include <vector>

#include "codegen/module.h"
#include "loop/host.h"

namespace tulle::codegen {

// Emits one exported function per kernel, with the signature of loop/abi.h. The kernels must be
// verified. Writable buffers of a launch must not overlap any other buffer of the launch. Scalar
// `&&`, `||` and Select evaluate an operand that loads or divides only if its value is needed.
// Integer division never traps: x / 0 and x % 0 are 0, and the lowest integer divided by -1 wraps.
// A shift count is taken modulo the width. Fma rounds once if the machine has the instruction,
// otherwise twice.
Module emit_cpu(const std::vector<loop::Kernel>& kernels, const Target& target);

// The name in PTX of the entry point of a kernel. Names in PTX have no dots: a dollar sign replaces
// each. LLVM replaces those of other names itself, and object files may contain them.
std::string entry_name(std::string kernel);

// The same for a GPU. Each kernel is one entry point, called entry_name(kernel), with its buffers
// and scalars as parameters, in order. The grid of a launch has one block per iteration of the
// block loop and loop::launched_threads threads per block; a kernel without a block loop runs on
// one thread. Buffers are aligned to loop::kDeviceAlignment. Raises Unsupported for an elementary
// function that is not expanded.
Module emit_gpu(const std::vector<loop::Kernel>& kernels, const Target& target);

// The PTX text that the driver loads.
std::string ptx(const Module& module);

}  // namespace tulle::codegen
