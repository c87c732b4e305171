// The schedules that are worth trying for a nest.
#pragma once

#include <string>
#include <vector>

#include "plan/order/loop_order.h"

namespace tulle::plan {

// Everything that the rules of choose_schedule make of this nest under other loop orders, panels,
// vector widths, unrolling, prefetching, stores and balances, as far as the rewrites allow it; the
// default first, then by estimated time.
std::vector<ScheduledCandidate> schedule_space(const OrderProblem& problem,
                                               const OrderChoice& choice, const nest::Nest& nest,
                                               const Machine& machine);

// The estimate for a schedule; UserError where it is refused.
double estimate_schedule(const OrderProblem& problem, const nest::Nest& nest,
                         const Machine& machine, const schedule::Schedule& schedule);

}  // namespace tulle::plan
