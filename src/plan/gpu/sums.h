// GPU schedules that distribute the entries of rows, or the sum of an entry, over lanes.
#pragma once

#include "plan/gpu/loops.h"

namespace tulle::plan {

// For three loops whose innermost is a contiguous sum per entry: groups of lanes share the sum.
// Empty if no rule gives a legal schedule.
ScheduleBuilder sums_on_lanes(const GpuLoops& loops);

// For two loops, over rows and their entries: a group of lanes for each row, a lane for each entry.
ScheduleBuilder entries_on_lanes(const GpuLoops& loops);

// For two loops, over rows and the diagonals that meet them: a thread for each row. On every
// diagonal, the entries of neighbouring threads are neighbours.
ScheduleBuilder diagonals_on_threads(const GpuLoops& loops);

}  // namespace tulle::plan
