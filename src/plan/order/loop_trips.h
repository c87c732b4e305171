// How often loops run.
#pragma once

#include <string>
#include <vector>

#include "plan/order/walked_operands.h"

namespace tulle::plan {

// How often the loop over a variable runs, on average, inside loops over these.
double estimate_trips(const WalkedOperands& operands, const std::vector<std::string>& outside,
                      const std::string& var);

// How often its body runs in all, inside loops over these, the body of which runs so often.
double estimate_visits(const WalkedOperands& operands, const std::vector<std::string>& outside,
                       const std::string& var, double visits);

// How many coordinates it passes over beside that, where it goes through several operands together
// and its body runs where all of them have entries.
double estimate_skips(const WalkedOperands& operands, const std::vector<std::string>& outside,
                      const std::string& var, double visits);

}  // namespace tulle::plan
