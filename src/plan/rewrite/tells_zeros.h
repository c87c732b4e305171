// Whether an expression tells stored zeros from absent entries.
#pragma once

#include <functional>

#include "expr/expr.h"

namespace tulle::plan {

// Whether the value can change, for finite operands, when accesses that `is_it` holds for read a
// stored zero instead of an absent entry: 0/0 is not absent, nor is 0 times an infinity, and masks
// and reductions over stored entries see the zero. `is_unbounded` tensors may hold infinities.
bool tells_zeros(const expr::Expr& expr, const std::function<bool(const expr::Access&)>& is_it,
                 const std::function<bool(const std::string& tensor)>& is_unbounded);

}  // namespace tulle::plan
