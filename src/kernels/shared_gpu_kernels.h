// The GPU kernels of scans and sorts, which most programs share.
#pragma once

#include "kernels/code_request.h"
#include "kernels/executable.h"

namespace tulle {

// The kernels as lowering produces them, in the order in which programs are likely to need them.
std::vector<loop::Kernel> shared_gpu_kernels();

// Compiles these kernels in the background for the machine of the request, once per GPU. They run
// after all other background work and one at a time, so that a call waits for at most one. Compiled
// kernels stay loaded; kernels found on disk are not loaded.
void prepare_shared_gpu_kernels(const CodeRequest& request);

}  // namespace tulle
