// Binds a loop to a part of a GPU.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Runs the iterations of the loops over `loop` on blocks, on the warps of a block, on the lanes of
// a warp or on the threads of a block. A schedule binds the outermost loop to blocks first. Inside
// it are warps with lanes, perhaps in groups, or threads. With `by_atomics`, blocks add their sums
// to the result by atomics. bound_loops.h lists the refusals.
//
// A loop through a block of a sparse result can instead be bound to the members of a chunk: threads
// that share a chunk (members.h).
Result<nest::Nest> bind(const nest::Nest& nest, const Bind& step);

}  // namespace tulle::schedule
