// Makes machine code of PTX.
#pragma once

#include <string>
#include <vector>

#include "support/cuda_gpu.h"

namespace tulle::jit {

// The driver's assembler: an image that GpuModule loads, on this GPU and all others of its compute
// capability. Other than loading PTX, which the driver does for one thread at a
// time, it runs on any number of threads at once. InternalError with the assembler's words if it
// does not take the text. Light code is ready in half the time, and slow.
std::vector<char> assemble_ptx(const cuda::Gpu& device, const std::string& ptx, bool light);

// What an image is kept under beside its text: the compute capability, and the CUDA version that
// the driver supports. Releases of the driver that support the same version share images, which
// each of them loads; a driver for another version assembles its own.
std::string assembler_of(const cuda::Gpu& device);

}  // namespace tulle::jit
