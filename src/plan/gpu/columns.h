// Schedules for GPUs of results with contiguous columns.
#pragma once

#include "plan/gpu/loops.h"

namespace tulle::plan {

// Threads that have a vector of columns of a row each; empty where no rule leads to a legal
// schedule.
ScheduleText columns_on_threads(const GpuLoops& loops);

}  // namespace tulle::plan
