// Repeats the body of a loop.
#pragma once

#include "nest/nest.h"

namespace tulle::schedule {

// Tags the loops over `var` to be unrolled: `copies` of the body, 2 to 128, or all of it with 0,
// for which the extent must be known and every tensor must hold all of its coordinates.
nest::Nest unroll(const nest::Nest& nest, const std::string& var, int64_t copies);

}  // namespace tulle::schedule
