// Schedules that cut the outermost loop into chunks, for the threads of a CPU.
#pragma once

#include "plan/choose_schedule.h"

namespace tulle::plan {

// Also used for a GPU if no rule maps the nest to blocks and warps. Then each thread runs a chunk.
ChosenSchedule choose_chunks(const OrderProblem& problem, const OrderChoice& choice,
                             const nest::Nest& nest, const Machine& machine, const Knobs& knobs);

}  // namespace tulle::plan
