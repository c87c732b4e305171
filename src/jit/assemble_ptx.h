// Assembles PTX to machine code.
#pragma once

#include <string>
#include <vector>

#include "support/cuda_gpu.h"

namespace tulle::jit {

// Assembles PTX to an image that GpuModule loads, on this GPU and on all GPUs of the same compute
// capability. Unlike loading PTX, which the driver serialises, it runs on any number of threads
// concurrently. Raises an InternalError with the assembler's message if it rejects the text. Light
// code takes half the time and runs slowly.
std::vector<char> assemble_ptx(const cuda::Gpu& device, const std::string& ptx, bool light);

// The part of an image's cache key that identifies the assembler: the compute capability and the
// CUDA version that the driver supports. Driver releases that support the same CUDA version share
// images, and each of them can load the images. A driver of another version assembles its own.
std::string assembler_of(const cuda::Gpu& device);

}  // namespace tulle::jit
