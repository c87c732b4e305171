// The schedule that finishes a nest: accumulators in registers, vectors inside, parallel chunks
// outside, prefetching.
#pragma once

#include <string>

#include "plan/loop_order.h"

namespace tulle::plan {

std::string choose_schedule(const OrderProblem& problem, const OrderChoice& choice,
                            const nest::Nest& nest, const Machine& machine);

}  // namespace tulle::plan
