// Finds innermost loops over contiguous data, which can be vectorised.
#pragma once

#include <string>
#include <vector>

#include "plan/order/result_route.h"

namespace tulle::plan {

// Whether the innermost loop visits contiguous elements of all tensors that it indexes.
bool is_contiguous(const WalkedOperands& operands, const std::vector<std::string>& order,
                   Route route);

}  // namespace tulle::plan
