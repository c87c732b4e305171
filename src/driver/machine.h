// The properties of this machine that plans depend on.
#pragma once

#include <string>

#include "codegen/target.h"
#include "driver/compile.h"
#include "plan/plan.h"
#include "support/cuda_gpu.h"
#include "tulle/resources.h"

namespace tulle {

// The caches of this machine and the vectors of the target.
plan::Machine describe_machine(std::string_view features_preset, int threads);

// The same for a GPU with these limits.
plan::Machine describe_gpu(const cuda::Gpu& device, const GpuLimits& limits);

// Sets the machine of the request: the CPU, restricted to `features` if there are any, or a GPU.
// The request's limits must be set. `threads` generate code, and run kernels on a CPU.
void set_machine(const Device& device, const std::string& features, int threads,
                 CompileRequest& request);

}  // namespace tulle
