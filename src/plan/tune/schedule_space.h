// The schedules that are worth trying for a nest.
#pragma once

#include <string>
#include <vector>

#include "plan/order/loop_order.h"
#include "plan/plan.h"

namespace tulle::plan {

// The schedules that the rules give for this nest under other loop orders, panels, vector widths,
// unrolling, prefetching, stores and balances, as far as the rewrites allow them. The default is
// first; the others follow by estimated time.
std::vector<ScheduledCandidate> schedule_space(const OrderProblem& problem,
                                               const OrderChoice& choice, const nest::Nest& nest,
                                               const Machine& machine);

// The estimate for a schedule; UserError where it is refused.
double estimate_schedule(const OrderProblem& problem, const nest::Nest& nest,
                         const Machine& machine, const schedule::Schedule& schedule);

}  // namespace tulle::plan
