// Combines several kernels into one.
#pragma once

#include <string>
#include <vector>

#include "loop/host.h"

namespace tulle::lower {

// Combines these kernels, which may run on a GPU in any order, and launches the result instead of
// the last.
void fuse_launches(const std::vector<std::string>& kernels, loop::HostProgram& program);

}  // namespace tulle::lower
