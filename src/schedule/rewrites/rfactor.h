// Gives every iteration of a summed loop its own partial sum.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// The loop over `loop`, which is summed into one tensor, adds into workspace[loop, ...] instead,
// and what it adds up there is summed over `loop` afterwards, whatever way it accumulates:
//
//   forall j { forall k { acc[k] += e } }
//   -> where part { forall k { forall j { acc[k] += part[j,k] } } }
//      producing { forall j { forall k { part[j,k] += e } } }
//
// Tuples go together, into workspace_NAME[loop, ...] for each of theirs, and are merged by a loop
// over `loop` outside those of their elements.
//
// So the loop can be spread over the lanes of a warp, which combine by shuffles, or over warps and
// threads, which do by shared memory. Refused where `loop` is not summed over, where the sum is
// stored entry by entry, where it matters whether anything was summed, and where a tuple's
// lead has elements of its own inside the loop.
Result<nest::Nest> rfactor(const nest::Nest& nest, const RFactor& step);

}  // namespace tulle::schedule
