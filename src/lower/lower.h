// Lowers a nest to steps and kernels of a host program.
#pragma once

#include <string>

#include "loop/host.h"
#include "lower/options.h"
#include "nest/nest.h"

namespace tulle::lower {

// Appends the code that computes the nest's result: an allocation and one kernel if the structure
// is known. Otherwise it counts, scans and fills. Operands, extents (i.extent), counts (A.count)
// and `caller.threads` are names of the host program. `caller.threads` is the number of workers of
// a CPU, or of threads that a GPU has room for. If the result is shared, kernels of other nests add
// to it at the same time.
void lower_nest(const nest::Nest& nest, const Options& options, loop::HostProgram& program,
                bool shares_result = false);

// The kernel that computes the result of a nest bound to a GPU.
std::string kernel_name(const nest::Nest& nest);

}  // namespace tulle::lower
