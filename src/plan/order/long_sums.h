// Decides which sums are too long for accumulators in memory.
#pragma once

#include "plan/order/loop_order.h"

namespace tulle::plan {

// Whether the loops add up so many terms for an average element of the result that float32 would
// lose several digits, and no other precaution helps: loops over terms are outside those over the
// elements, so that the accumulators are elements in memory or vectors. (The pass chunk_sums takes
// care of scalar accumulators.) False if the loops read the elements of operands many times:
// wider accumulators would take time there. Also false for parts of a sum, which share the result.
bool has_long_sums(const OrderProblem& problem, const OrderChoice& choice);

// The same for the sums of a statement that computes something else of them, such as a mean: they
// are gathered in workspaces. False on a GPU.
bool has_long_workspaces(const OrderProblem& problem, const OrderChoice& choice);

}  // namespace tulle::plan
