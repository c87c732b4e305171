// Builds the nest that computes a statement in a given loop order.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "plan/order/loop_order.h"

namespace tulle::plan {

// Loops in the chosen order around the assignment. gathering.h describes how reductions are
// gathered. `result` is the type to build (unordered coordinates for Route::Sort).
nest::Nest build_nest(const OrderProblem& problem, const OrderChoice& choice,
                      const std::map<std::string, int64_t>& known_extents,
                      const expr::TensorType& result);

// New accesses by the number and the tensor of an old one.
using AccessReplacements = std::map<std::pair<int, std::string>, expr::Expr>;
expr::Expr redirect(const expr::Expr& expr, const AccessReplacements& accesses);

}  // namespace tulle::plan
