// How often loops run.
#pragma once

#include <string>
#include <vector>

#include "plan/order/walked_operands.h"

namespace tulle::plan {

// How often the loop over a variable runs, on average, inside loops over these.
double estimate_trips(const WalkedOperands& operands, const std::vector<std::string>& outside,
                      const std::string& var);

// The number of executions of its body in all, inside loops over these, whose body runs that often.
double estimate_visits(const WalkedOperands& operands, const std::vector<std::string>& outside,
                       const std::string& var, double visits);

// The number of coordinates that it skips: it walks over several operands together and executes its
// body where all of them have entries.
double estimate_skips(const WalkedOperands& operands, const std::vector<std::string>& outside,
                      const std::string& var, double visits);

}  // namespace tulle::plan
