// Chooses the cheapest loop order.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "plan/order/order_problem.h"
#include "plan/order/result_route.h"

namespace tulle::plan {

struct OrderChoice {
  std::vector<std::string> order;
  std::set<int> converted;  // ids of accesses whose operand is sorted into this order first
  Route route = Route::Dense;
  std::string shared;                // the operand of Route::Shared
  std::vector<std::string> members;  // loops to bind to members of chunks
  bool scans = false;       // scan all coordinates of the tracked row, which is full enough
  bool vectorized = false;  // the innermost loop runs over contiguous data
  double cost = 0;
  int tried = 0;  // the number of orders and partial orders visited
};

OrderChoice choose_order(const OrderProblem& problem);

// The reason why loops cannot run in this order, as the end of "the loops of 'C' ...". Empty if
// they can.
std::string why_not(const OrderProblem& problem, const std::vector<std::string>& order);

// The cost of the loops in this order, with the route and conversions that it implies.
OrderChoice evaluate_order(const OrderProblem& problem, const std::vector<std::string>& order);

}  // namespace tulle::plan
