// Chooses a loop order by its cost.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "plan/order/order_problem.h"
#include "plan/order/result_route.h"

namespace tulle::plan {

struct OrderChoice {
  std::vector<std::string> order;
  std::set<int> converted;  // accesses (by id) whose operand is to be sorted into this order first
  Route route = Route::Dense;
  std::string shared;                // the operand of Route::Shared
  std::vector<std::string> members;  // loops to bind to members of a chunk
  bool scans = false;                // a tracked row is full enough for a look at all of it
  bool vectorized = false;           // the innermost loop runs over contiguous data
  double cost = 0;
  int tried = 0;  // orders and beginnings of orders that were looked at
};

OrderChoice choose_order(const OrderProblem& problem);

// Why loops cannot run in this order, to go on "the loops of 'C' ..."; empty if they can.
std::string why_not(const OrderProblem& problem, const std::vector<std::string>& order);

// The cost of the loops in this order, and what follows from it.
OrderChoice evaluate_order(const OrderProblem& problem, const std::vector<std::string>& order);

}  // namespace tulle::plan
