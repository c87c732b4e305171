// Builds the nest that computes a statement in a given loop order.
#pragma once

#include <map>
#include <string>

#include "plan/order/loop_order.h"

namespace tulle::plan {

// Loops in the chosen order around the assignment. gathering.h describes how reductions are
// gathered. `result` is the type to build (unordered coordinates for Route::Sort).
nest::Nest build_nest(const OrderProblem& problem, const OrderChoice& choice,
                      const std::map<std::string, int64_t>& known_extents,
                      const expr::TensorType& result);

// The expression with the accesses of these ids replaced.
expr::Expr redirect(const expr::Expr& expr, const std::map<int, expr::Expr>& accesses);

}  // namespace tulle::plan
