// GPU schedules for nests that gather each row in several workspaces.
#pragma once

#include "plan/gpu/schedule_builder.h"
#include "plan/order/loop_order.h"

namespace tulle::plan {

// Schedules a nest whose rows fill workspaces from their entries and then compute the result from
// these: maxima with their coordinates, sums of exponentials, softmax with weighted sums. Each row
// or chunk of rows gets a warp, which reads it once; groups of lanes process one entry each. Empty
// for other nests or if the schedule is not legal.
ScheduleBuilder gather_rows_on_warps(const OrderProblem& problem, const OrderChoice& choice,
                                     const nest::Nest& nest, const Machine& machine);

}  // namespace tulle::plan
