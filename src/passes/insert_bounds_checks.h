// Checked mode: no access leaves its buffer unnoticed.
#pragma once

#include <string>

#include "loop/host.h"

namespace tulle::passes {

// Before every statement that touches memory: if an index lies outside its buffer,
// report_out_of_bounds is called, which ends the kernel. Each buffer has its size beside it as a
// scalar, `<buffer>_size`: the host program computes those of the buffers it allocates and takes
// those of its parameters as further scalar parameters, one for each buffer in order.
// Kernels for the GPU stay as they are: the interpreter checks those.
loop::HostProgram insert_bounds_checks(loop::HostProgram program);

// The scalar that holds the size of a buffer parameter of a checked host program.
std::string size_name(const std::string& buffer);

}  // namespace tulle::passes
