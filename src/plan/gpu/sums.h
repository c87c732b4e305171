// Schedules for GPUs that spread the entries of rows, or what is summed for an entry, over lanes.
#pragma once

#include "plan/gpu/loops.h"

namespace tulle::plan {

// Of three loops, the innermost a contiguous sum for an entry: groups of lanes share it. Empty
// where no rule leads to a legal schedule.
ScheduleBuilder sums_on_lanes(const GpuLoops& loops);

// Of two loops, over rows and their entries: groups of lanes for a row, a lane for an entry.
ScheduleBuilder entries_on_lanes(const GpuLoops& loops);

// Of two loops, over rows and the diagonals that meet them: a thread for a row, beside those whose
// entries lie beside its own on every diagonal.
ScheduleBuilder diagonals_on_threads(const GpuLoops& loops);

}  // namespace tulle::plan
