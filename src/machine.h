// What plans need to know of the machine this runs on.
#pragma once

#include "codegen/target.h"
#include "plan/plan.h"
#include "support/cuda_device.h"

namespace tulle {

// Caches of this machine and the vectors that the target has.
plan::Machine describe_machine(std::string_view features_preset, int threads);

// The same of a GPU.
plan::Machine describe_gpu(const cuda::Device& device);

}  // namespace tulle
