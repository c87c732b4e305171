// What is left of an expression where some of its operands have no entry.
#pragma once

#include <functional>

#include "expr/expr.h"

namespace tulle::expr {

// The expression with the accesses that `absent` holds for put to their fill (0) and folded by the
// rules of the language: an absent factor fixes the product, an absent numerator stays absent, a
// term that is absent falls away, a sum of nothing is 0. What cannot be folded stays as it is.
Expr without(const Expr& expr, const std::function<bool(const Access&)>& absent);

// Whether folding left the constant 0.
bool is_zero(const Expr& expr);

}  // namespace tulle::expr
