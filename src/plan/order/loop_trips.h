// Estimates how often loops run.
#pragma once

#include <string>
#include <vector>

#include "plan/order/walked_operands.h"

namespace tulle::plan {

// The average trip count of the loop over the variable inside these loops.
double estimate_trips(const WalkedOperands& operands, const std::vector<std::string>& outside,
                      const std::string& var);

// The total number of executions of its body. The body of the loops outside it runs `visits` times.
double estimate_visits(const WalkedOperands& operands, const std::vector<std::string>& outside,
                       const std::string& var, double visits);

// The number of coordinates that the loop skips. It walks over several operands together and only
// executes its body where all of them have entries.
double estimate_skips(const WalkedOperands& operands, const std::vector<std::string>& outside,
                      const std::string& var, double visits);

}  // namespace tulle::plan
