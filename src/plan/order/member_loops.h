// Threads that share the blocks of a row of a sparse result.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "plan/order/result_route.h"

namespace tulle::plan {

// The loops over the insides of blocks that are worth binding to members of a chunk when rows are
// gathered: those whose coordinates all operands hold, as long as the GPU has room for all rows.
// Innermost first, so that neighbouring threads read neighbouring values. `converted` as for
// choose_route.
std::vector<std::string> member_loops(const WalkedOperands& operands,
                                      const std::vector<std::string>& order,
                                      const RouteChoice& route, const std::set<int>& converted);

// The most members that any order of the problem has.
double most_members(const OrderProblem& problem);

}  // namespace tulle::plan
