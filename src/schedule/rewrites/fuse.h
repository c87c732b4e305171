// Makes one loop of two.
#pragma once

#include "nest/nest.h"

namespace tulle::schedule {

// Wherever a loop over `inner` stands directly in one over `outer`, the two become one loop over
// the pairs, `fused`, the inner faster. Refused unless every tensor below holds all coordinates of
// both.
nest::Nest fuse(const nest::Nest& nest, const std::string& outer, const std::string& inner,
                const std::string& fused);

}  // namespace tulle::schedule
