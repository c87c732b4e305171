// Orders of loops in which an operand can be walked over as it is stored.
#pragma once

#include <string>
#include <vector>

#include "format/format.h"
#include "plan/order/loop_space.h"

namespace tulle::plan {

// The place of the loop over a variable in the order; -1 if it has none.
int position_of(const std::vector<std::string>& order, const std::string& var);

// Whether an access can be walked over in this order as it is stored.
bool is_native(const Format& format, const std::vector<std::string>& indices,
               const std::vector<std::string>& order, const LoopSpace& space);

}  // namespace tulle::plan
