// Schedules for GPUs of what is gathered row by row in several workspaces together.
#pragma once

#include "plan/gpu/schedule_builder.h"
#include "plan/order/loop_order.h"

namespace tulle::plan {

// The schedule of a nest whose rows fill workspaces from their entries and then store what follows
// from these (maxima with their places, sums of exponentials, softmax with weighted sums): a warp
// for a row or for a chunk of rows, which it passes over once, its lanes in groups that take an
// entry each. Empty where the nest is none of these or the schedule is not legal.
ScheduleBuilder gather_rows_on_warps(const OrderProblem& problem, const OrderChoice& choice,
                                     const nest::Nest& nest, const Machine& machine);

}  // namespace tulle::plan
