// The devices of PyTorch tensors, and the current stream of a GPU.
#pragma once

#include <string>

#include "tensors.h"
#include "tulle/tulle.h"

namespace tulle::shim {

// The device of a tensor; throws Unsupported unless it is the CPU or an NVIDIA GPU.
Device device_of(AtenTensorHandle tensor);

// "cpu" or "cuda:0", as PyTorch writes it.
std::string to_string(const Device& device);

// PyTorch's current stream of a GPU.
void* current_stream(const Device& device);

// The options of a run on that device: threads, and on a GPU the current stream.
const RunOptions& run_options_on(const Device& device);

}  // namespace tulle::shim
