// The buffers and scalars of the host program that a kernel uses.
#pragma once

#include <string>

#include "loop/host.h"

namespace tulle::lower {

// The kernel with this body. Its parameters are the global buffers and free variables of the body.
loop::Kernel with_parameters(std::string name, loop::Stmt body);

// The buffer with the maximum number of entries in a row of the result.
std::string width_buffer_name(const std::string& result);
// The buffer with the number of entries that each chunk adds to group `group` of the result.
std::string count_buffer_name(const std::string& result, size_t group);

}  // namespace tulle::lower
