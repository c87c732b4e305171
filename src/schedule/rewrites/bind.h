// Binds a loop to a part of a GPU.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// The iterations of the loops over `loop` run on blocks, on the warps of a block, on the lanes of a
// warp or on the threads of a block. The outermost loop is bound to blocks first; inside it come
// warps with lanes in them, perhaps in groups, or threads. What is summed over blocks is added to
// the result `by_atomics`. bound_loops.h says what is refused. Or the loop goes through a block of
// a sparse result, and its iterations to the members of a chunk: threads that have a chunk in
// common, members.h.
Result<nest::Nest> bind(const nest::Nest& nest, const Bind& step);

}  // namespace tulle::schedule
