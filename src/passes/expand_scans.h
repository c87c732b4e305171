// Expands prefix sums into kernels, for devices whose runtime does not provide them.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// Replaces each scan step by launches of GPU kernels. If the element type cannot hold the total,
// the total is -1. Afterwards the program has no scan steps.
loop::HostProgram expand_scans(loop::HostProgram program);

}  // namespace tulle::passes
