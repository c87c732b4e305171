// Schedules for GPUs of results with contiguous columns.
#pragma once

#include "plan/gpu/loops.h"

namespace tulle::plan {

// Gives each thread a vector of columns of a row. Empty if no rule gives a legal schedule.
ScheduleBuilder columns_on_threads(const GpuLoops& loops);

}  // namespace tulle::plan
