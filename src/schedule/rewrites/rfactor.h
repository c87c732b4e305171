// Gives every iteration of a summed loop a partial sum of its own.
#pragma once

#include "nest/nest.h"

namespace tulle::schedule {

// The loop over `var`, which is summed into one tensor, adds into workspace[var, ...] instead, and
// what it adds up there is summed over `var` afterwards, whatever way it accumulates:
//
//   forall j { forall k { acc[k] += e } }
//   -> where part { forall k { forall j { acc[k] += part[j,k] } } }
//      producing { forall j { forall k { part[j,k] += e } } }
//
// Tuples go together, into workspace_NAME[var, ...] for each of theirs, and are merged by a loop
// over `var` outside those of their elements.
//
// So the loop can be spread over the lanes of a warp, which combine by shuffles, or over warps and
// threads, which do by shared memory. Refused where `var` is not summed over, where the sum is
// stored entry by entry, where it matters whether anything was summed, and where a tuple's
// lead has elements of its own inside the loop.
nest::Nest rfactor(const nest::Nest& nest, const std::string& var, const std::string& workspace);

}  // namespace tulle::schedule
