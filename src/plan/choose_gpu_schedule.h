// Schedules for GPUs.
#pragma once

#include <string>

#include "plan/loop_order.h"

namespace tulle::plan {

// The schedule that lays the nest over blocks, threads and vectors; empty where no rule leads to a
// legal one, so that rows go to threads one chunk each.
std::string choose_gpu_schedule(const OrderProblem& problem, const OrderChoice& choice,
                                const nest::Nest& nest, const Machine& machine);

}  // namespace tulle::plan
