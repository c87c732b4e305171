// Lets lanes that load the same values share the loads, on a GPU.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// Applies to loops over positions in which lanes combine values. If the unrolled copies load
// integers, usually coordinates, from equidistant addresses that are the same for neighbouring
// lanes, each of these lanes loads the value of one copy and the others receive it by a shuffle.
// This takes one memory access instead of one per copy, and one register to load ahead of time.
// Results are bitwise identical.
loop::Kernel share_loads(loop::Kernel kernel);

}  // namespace tulle::passes
