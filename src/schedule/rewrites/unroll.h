// Repeats the body of a loop.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

constexpr int64_t kMostCopies = 128;

// Tags the loops over `loop` to be unrolled into that number of copies of the body. 0 unrolls the
// whole loop. Then its extent must be known and every tensor must hold all of its coordinates.
Result<nest::Nest> unroll(const nest::Nest& nest, const Unroll& step);

}  // namespace tulle::schedule
