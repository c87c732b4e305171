// Gives every iteration of a summed loop its own partial sum.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// The loop over `loop` accumulates into one tensor. This rewrite makes it accumulate into
// workspace[loop, ...] and then accumulates the workspace over `loop`, with the same operation:
//
//   forall j { forall k { acc[k] += e } }
//   -> where part { forall k { forall j { acc[k] += part[j,k] } } }
//      producing { forall j { forall k { part[j,k] += e } } }
//
// Tuples move together, each of their tensors into workspace_NAME[loop, ...]. A loop over `loop`
// outside the loops over their elements merges them.
//
// Afterwards the loop can be bound to the lanes of a warp, which combine by shuffles, or to warps
// and threads, which combine through shared memory.
//
// Refuses if `loop` is not summed over, if the result stores the sum entry by entry, if it matters
// whether the sum has any terms, and if a tuple's lead has elements of its own inside the loop.
Result<nest::Nest> rfactor(const nest::Nest& nest, const RFactor& step);

}  // namespace tulle::schedule
