// Schedules for loops that begin with a sum.
#pragma once

#include "plan/gpu/loops.h"

namespace tulle::plan {

// The outermost loop is summed, or entries are listed whose rows begin nobody knows where, so that
// iterations add to the same elements: entries, rows or chunks of them go to blocks and threads,
// which add up by atomics. Empty where they cannot.
ScheduleText scatter_by_atomics(const GpuLoops& loops);

}  // namespace tulle::plan
