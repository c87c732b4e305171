// Inserts the bounds checks of checked mode.
#pragma once

#include <string>

#include "loop/host.h"

namespace tulle::passes {

// Before every statement that accesses memory, a check calls report_out_of_bounds, which ends the
// kernel, if an index is outside its buffer. Each buffer has its size next to it as a scalar
// `<buffer>_size`. The host program computes the sizes of buffers that it allocates and takes the
// sizes of its parameters as additional scalar parameters, one per buffer in order. GPU kernels
// remain unchanged: the interpreter checks them.
loop::HostProgram insert_bounds_checks(loop::HostProgram program);

// The name of the scalar that holds the size of a buffer parameter of a checked host program.
std::string size_name(const std::string& buffer);

}  // namespace tulle::passes
