// Whether an expression tells entries of value 0 from none.
#pragma once

#include <functional>

#include "expr/expr.h"

namespace tulle::plan {

// Whether the value can change, with finite operands, when the accesses that `is_it` holds for read
// an entry of value 0 where they have none: 0/0 is not nothing, nor is 0 times an infinity, and
// masks and reductions of what is stored see the entry. `is_unbounded` tensors may hold infinities.
bool tells_zeros(const expr::Expr& expr, const std::function<bool(const expr::Access&)>& is_it,
                 const std::function<bool(const std::string& tensor)>& is_unbounded);

}  // namespace tulle::plan
