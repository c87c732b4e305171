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

// What find_told asks of accesses and reductions.
struct AbsenceQuestions {
  // Whether a tensor may hold infinities though the operands are finite.
  std::function<bool(const std::string& tensor)> is_unbounded;
  // Whether a condition says how many terms there are, so that what it chooses has some.
  std::function<bool(const Expr& condition)> counts;
};
// Calls `told` with every access and every reduction, outside of other reductions, that the value
// tells absent from 0: nothing / 0 is nothing, and 0 / 0 is NaN; nothing times infinity is nothing;
// x / -nothing is x / +0. `fixes` says that it shows where the whole expression is absent.
void find_told(const Expr& expr, const AbsenceQuestions& questions, bool fixes,
               const std::function<void(const Expr& leaf)>& told);

}  // namespace tulle::expr
