// Prefix sums as kernels, for machines whose runtime has none of its own.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// Replaces each scan step by launches of kernels bound to a GPU. A total that the buffer's elements
// cannot hold becomes -1. Afterwards the program has no scan steps.
loop::HostProgram expand_scans(loop::HostProgram program);

}  // namespace tulle::passes
