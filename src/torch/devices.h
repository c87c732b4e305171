// Devices of PyTorch's tensors, and the stream that a GPU works on.
#pragma once

#include <string>

#include "tensors.h"
#include "tulle/tulle.h"

namespace tulle::shim {

// The CPU or an NVIDIA GPU; Unsupported for any other.
Device device_of(AtenTensorHandle tensor);

// "cpu" or "cuda:0", as PyTorch writes it.
std::string to_string(const Device& device);

// PyTorch's current stream of a GPU.
void* current_stream(const Device& device);

// The options of a run on that device: threads, or the current stream.
const RunOptions& run_options_on(const Device& device);

}  // namespace tulle::shim
