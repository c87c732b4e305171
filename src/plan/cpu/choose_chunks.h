// Schedules that cut the outermost loop into chunks, for the threads of a CPU.
#pragma once

#include "plan/choose_schedule.h"

namespace tulle::plan {

// On a GPU each thread runs a chunk: for nests that no rule lays over blocks and warps.
ChosenSchedule choose_chunks(const OrderProblem& problem, const OrderChoice& choice,
                             const nest::Nest& nest, const Machine& machine, const Knobs& knobs);

}  // namespace tulle::plan
