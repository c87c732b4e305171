// Makes one loop of two nested loops.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Replaces every loop over `outer` whose body is a loop over `inner` by one loop over the pairs,
// `fused`, with `inner` as the faster one. Refuses unless every tensor below holds all coordinates
// of both.
Result<nest::Nest> fuse(const nest::Nest& nest, const Fuse& step);

}  // namespace tulle::schedule
