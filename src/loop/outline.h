// What stays of a kernel for whoever launches it, once its code is there.
#pragma once

#include "loop/host.h"

namespace tulle::loop {

// The kernel with its parameters, the loops that are bound to workers or to a GPU, the names that
// their bounds may use, and its shared memory: a launch of it is prepared like one of the whole.
Kernel outline(const Kernel& kernel);

}  // namespace tulle::loop
