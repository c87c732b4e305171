// GPU schedules for loops that begin with a sum.
#pragma once

#include "plan/gpu/loops.h"

namespace tulle::plan {

// For nests with a summed outermost loop, and for lists of entries with unknown row boundaries,
// where several iterations add to one element. Distributes entries, rows or chunks of rows over
// blocks and threads, which add by atomics. Empty if they cannot.
ScheduleBuilder scatter_by_atomics(const GpuLoops& loops);

}  // namespace tulle::plan
