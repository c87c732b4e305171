// What is left of an expression where some of its operands have no entry.
#pragma once

#include <functional>

#include "expr/expr.h"

namespace tulle::expr {

// The expression with the accesses that `absent` holds for put to their fill (0) and folded by the
// rules of the language: an absent factor fixes the product, an absent numerator stays absent, a
// term that is absent falls away, a sum of nothing is absent. What cannot be folded stays as it is;
// a 0 that takes the place of something absent in it is itself absent (0 - x, say).
Expr without(const Expr& expr, const std::function<bool(const Access&)>& absent);

// Whether folding left nothing at all.
bool is_absent(const Expr& expr);
// Whether folding left nothing, or the constant 0.
bool is_zero(const Expr& expr);

// Whether finite operands can make it infinite, so that it matters whether a factor beside it is
// absent or 0: a quotient, a logarithm, a maximum over nothing, say.
bool may_be_infinite(const Expr& expr,
                     const std::function<bool(const std::string& tensor)>& is_unbounded);

}  // namespace tulle::expr
