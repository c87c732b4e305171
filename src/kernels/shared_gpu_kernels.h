// Kernels that programs on a GPU have in common whatever they compute: of scans and sorts.
#pragma once

#include "kernels/code_request.h"
#include "kernels/executable.h"

namespace tulle {

// As lowering hands them on, in the order in which programs are likely to need them.
std::vector<loop::Kernel> shared_gpu_kernels();

// Has them compiled for the machine of the request, once for each GPU: in the background, behind
// everything else there, and one at a time, so that no call waits for more than one. They stay
// loaded from then on. What is on disk is left there, for programs to load.
void prepare_shared_gpu_kernels(const CodeRequest& request);

}  // namespace tulle
