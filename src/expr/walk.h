// Questions about whole expressions.
#pragma once

#include <functional>

#include "expr/expr.h"

namespace tulle::expr {

// Whether the predicate holds for the expression or anything in it.
bool any_part(const Expr& expr, const std::function<bool(const Expr&)>& predicate);

// Whether a reduction stands in it.
bool has_reduction(const Expr& expr);

// A number that no access in it has: the largest and one more.
int next_access_id(const Expr& expr);

// The same with numbers on its accesses from `next_id` on, which is advanced.
Expr renumbered(const Expr& expr, int& next_id);

// The same with one number for accesses to the same tensor under the same indices.
Expr with_shared_numbers(const Expr& expr);

}  // namespace tulle::expr
