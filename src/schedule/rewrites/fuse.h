// Makes one loop of two.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Wherever a loop over `inner` stands directly in one over `outer`, the two become one loop over
// the pairs, `fused`, the inner faster. Refused unless every tensor below holds all coordinates of
// both.
Result<nest::Nest> fuse(const nest::Nest& nest, const Fuse& step);

}  // namespace tulle::schedule
