// The schedules that are worth measuring for a nest.
#pragma once

#include <string>
#include <vector>

#include "plan/order/loop_order.h"
#include "plan/plan.h"

namespace tulle::plan {

// The legal schedules that the rules give for this nest with other loop orders, panels, vector
// widths, unroll factors, prefetch distances, kinds of stores and balances. The default is first.
// The others are sorted by estimated time.
std::vector<ScheduledCandidate> schedule_space(const OrderProblem& problem,
                                               const OrderChoice& choice, const nest::Nest& nest,
                                               const Machine& machine);

// The estimated time of a schedule. Throws a UserError if it is refused.
double estimate_schedule(const OrderProblem& problem, const nest::Nest& nest,
                         const Machine& machine, const schedule::Schedule& schedule);

}  // namespace tulle::plan
