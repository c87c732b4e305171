// Lowering: a nest becomes steps and kernels of a host program.
#pragma once

#include <string>

#include "loop/host.h"
#include "lower/options.h"
#include "nest/nest.h"

namespace tulle::lower {

// Appends what computes the nest's result: allocation and one kernel where the structure is known,
// else counting, scanning and filling. Operands, extents (i.extent), counts (A.count) and
// caller.threads (the workers of a CPU, the threads that a GPU has room for) are names of the host
// program.
// If the result is shared, kernels of other nests add to it at the same time.
void lower_nest(const nest::Nest& nest, const Options& options, loop::HostProgram& program,
                bool shares_result = false);

// The kernel that computes the result of a nest that is bound to a GPU.
std::string kernel_name(const nest::Nest& nest);

}  // namespace tulle::lower
