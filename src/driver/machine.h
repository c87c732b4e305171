// What plans need to know of the machine this runs on.
#pragma once

#include <string>

#include "codegen/target.h"
#include "driver/compile.h"
#include "plan/plan.h"
#include "support/cuda_gpu.h"
#include "tulle/resources.h"

namespace tulle {

// Caches of this machine and the vectors that the target has.
plan::Machine describe_machine(std::string_view features_preset, int threads);

// The same of a GPU.
plan::Machine describe_gpu(const cuda::Gpu& device);

// What this thread takes for those of the GPU in place of what they are; 0: as they are. Tests set
// it to have small operands planned as large ones.
struct GpuLimits {
  int64_t many_entries = 0, last_cache = 0;
  int multiprocessors = 0, threads = 0;
};
GpuLimits& gpu_limits();

// For which machine the request is: the CPU, restricted to those features if there are any, or a
// GPU. So many threads run kernels on a CPU and generate code in any case.
void set_machine(const Device& device, const std::string& features, int threads,
                 CompileRequest& request);

}  // namespace tulle
