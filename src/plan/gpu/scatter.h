// Schedules for loops that begin with a sum.
#pragma once

#include "plan/gpu/loops.h"

namespace tulle::plan {

// For nests whose outermost loop is summed, and for lists of entries with unknown row boundaries:
// iterations add to the same elements. Distributes entries, rows or chunks of these over blocks and
// threads, which add by atomics. Empty if they cannot.
ScheduleBuilder scatter_by_atomics(const GpuLoops& loops);

}  // namespace tulle::plan
