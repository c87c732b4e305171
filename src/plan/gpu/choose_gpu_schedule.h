// Schedules for GPUs.
#pragma once

#include "plan/gpu/schedule_builder.h"
#include "plan/order/loop_order.h"

namespace tulle::plan {

// Returns a schedule that distributes the nest over blocks, threads and vectors. Empty if no rule
// gives a legal schedule. Then each thread runs a chunk of rows.
ScheduleBuilder choose_gpu_schedule(const OrderProblem& problem, const OrderChoice& choice,
                                    const nest::Nest& nest, const Machine& machine);

}  // namespace tulle::plan
