// The launch signature of a kernel whose code already exists.
#pragma once

#include "loop/host.h"

namespace tulle::loop {

// The kernel without its computation: its parameters, the loops that are bound to workers or to a
// GPU, the names that their bounds use, and its shared memory. A launch of the outline is prepared
// like a launch of the kernel.
Kernel outline(const Kernel& kernel);

}  // namespace tulle::loop
