// Schedules for GPUs.
#pragma once

#include "plan/gpu/schedule_builder.h"
#include "plan/order/loop_order.h"

namespace tulle::plan {

// The schedule that lays the nest over blocks, threads and vectors; empty where no rule leads to a
// legal one, so that rows go to threads one chunk each.
ScheduleText choose_gpu_schedule(const OrderProblem& problem, const OrderChoice& choice,
                                 const nest::Nest& nest, const Machine& machine);

}  // namespace tulle::plan
