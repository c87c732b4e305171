// Checks nests with loops that are bound to parts of a GPU.
#pragma once

#include "nest/nest.h"
#include "support/result.h"

namespace tulle::schedule {

// Refuses, with a remedy, unless
// - the outermost loop is bound to blocks. Inside are warps with lanes, or threads, each at most
// once
//   on a path. Lanes inside lanes form groups: each iteration of the outer loop has as many
//   neighbouring lanes as the inner loop has iterations, 1, 2, 4, 8 or 16. Lanes outside of warps
//   store merged results of warps;
// - no loop is parallel;
// - warps, lanes and threads have known extents that fit a block;
// - bound loops count: no tensor holds only some of their coordinates, and the structure of the
//   result is known in advance;
// - different iterations of a bound loop write different locations, or the loop combines the
// partial
//   sums or tuples that rfactor makes (combines);
// - every workspace fits a thread, or is a copy in shared memory that fits a block and is outside
// of
//   loops over lanes and threads.
// A nest without bound loops passes.
Result<> require_legal_bindings(const nest::Nest& nest);

}  // namespace tulle::schedule
