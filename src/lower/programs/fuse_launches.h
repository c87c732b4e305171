// One kernel out of several.
#pragma once

#include <string>
#include <vector>

#include "loop/host.h"

namespace tulle::lower {

// Makes one kernel of these, which run on a GPU in any order, and launches it in place of the last.
void fuse_launches(const std::vector<std::string>& kernels, loop::HostProgram& program);

}  // namespace tulle::lower
