// Repeats the body of a loop.
#pragma once

#include "nest/nest.h"

namespace tulle::schedule {

constexpr int64_t kMostCopies = 128;

// Tags the loops over `var` to be unrolled: so many copies of the body, or all of it with 0,
// for which the extent must be known and every tensor must hold all of its coordinates.
nest::Nest unroll(const nest::Nest& nest, const std::string& var, int64_t copies);

}  // namespace tulle::schedule
