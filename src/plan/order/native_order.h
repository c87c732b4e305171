// Tests whether loops in a given order can walk over an operand as stored.
#pragma once

#include <string>
#include <vector>

#include "format/format.h"
#include "plan/order/loop_space.h"

namespace tulle::plan {

// The position of the loop over a variable in the order. -1 if there is none.
int position_of(const std::vector<std::string>& order, const std::string& var);

// Whether loops in this order can walk over the access as stored.
bool is_native(const Format& format, const std::vector<std::string>& indices,
               const std::vector<std::string>& order, const LoopSpace& space);

}  // namespace tulle::plan
