// Writes down what choosing the loop order of a statement needs.
#pragma once

#include "plan/estimates.h"
#include "plan/loop_order.h"

namespace tulle::plan {

// Variables, extents, counts, and which loops stand around which. What decides about conversions
// and shared patterns is the caller's to fill in. Points to `statement` and `tensors`.
OrderProblem make_order_problem(const expr::Statement& statement,
                                const std::map<std::string, expr::TensorType>& tensors,
                                Estimates& estimates);

// The counts of the statement's operands, which may be others than when the problem was made.
void count_operands(OrderProblem& problem, Estimates& estimates);

}  // namespace tulle::plan
