// Which buffers and scalars of the host program a kernel uses.
#pragma once

#include <string>

#include "loop/host.h"

namespace tulle::lower {

// The kernel with this body; its parameters are the global buffers and the free variables in it.
loop::Kernel with_parameters(std::string name, loop::Stmt body);

// The buffer that holds the most entries that a row of the result has.
std::string width_buffer_name(const std::string& result);
// The buffer that holds how many entries each chunk puts into group `group` of the result.
std::string count_buffer_name(const std::string& result, size_t group);

}  // namespace tulle::lower
