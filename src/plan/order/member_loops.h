// Chooses loops for threads that share the blocks of a row in a sparse result.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "plan/order/result_route.h"

namespace tulle::plan {

// The loops over the insides of blocks to bind to members of a chunk when rows are gathered. All
// operands must hold all coordinates of such a loop, and the GPU must have room for all rows.
// Innermost first, so that neighbouring threads read neighbouring values. `converted` as for
// choose_route.
std::vector<std::string> member_loops(const WalkedOperands& operands,
                                      const std::vector<std::string>& order,
                                      const RouteChoice& route, const std::set<int>& converted);

// The maximum number of members in any order of the problem.
double most_members(const OrderProblem& problem);

}  // namespace tulle::plan
