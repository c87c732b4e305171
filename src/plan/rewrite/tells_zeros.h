// Whether an expression distinguishes stored zeros from absent entries.
#pragma once

#include <functional>

#include "expr/expr.h"

namespace tulle::plan {

// Whether the value can change, for finite operands, when accesses that satisfy `is_it` read a
// stored zero instead of an absent entry. 0/0 is not absent, and neither is 0 times an infinity.
// Masks and reductions over stored entries see the zero. `is_unbounded` tensors may hold
// infinities.
bool tells_zeros(const expr::Expr& expr, const std::function<bool(const expr::Access&)>& is_it,
                 const std::function<bool(const std::string& tensor)>& is_unbounded);

}  // namespace tulle::plan
