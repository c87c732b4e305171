// Folds expressions at coordinates where some operands have no entry.
#pragma once

#include <functional>

#include "expr/expr.h"

namespace tulle::expr {

// Replaces the accesses for which `absent` holds by their fill (0) and folds the expression by the
// rules of the language: an absent factor makes the product absent, an absent numerator the
// quotient; an absent term drops out, and a sum without terms is absent. The rest stays unchanged;
// a 0 that replaces an absent operand in it is marked absent itself, for example in 0 - x.
Expr without(const Expr& expr, const std::function<bool(const Access&)>& absent);

// Whether the folded expression is absent.
bool is_absent(const Expr& expr);
// Whether the folded expression is absent or the constant 0.
bool is_zero(const Expr& expr);

// Whether the expression can be infinite for finite operands, as a quotient, a logarithm or a
// maximum over no entries can. Beside such a factor, an absent factor and a 0 give different
// products.
bool may_be_infinite(const Expr& expr,
                     const std::function<bool(const std::string& tensor)>& is_unbounded);

// The inputs of find_told().
struct AbsenceQuestions {
  // Whether a tensor may hold infinities although the operands are finite.
  std::function<bool(const std::string& tensor)> is_unbounded;
  // Whether a condition counts terms, so that the chosen value has at least one term.
  std::function<bool(const Expr& condition)> counts;
};
// Calls `told` for every access and every outermost reduction whose absence the value distinguishes
// from 0: absent / 0 is absent but 0 / 0 is NaN; absent times infinity is absent; x / -absent is x
// / +0. `fixes`: whether the user of the value distinguishes its absence from 0.
void find_told(const Expr& expr, const AbsenceQuestions& questions, bool fixes,
               const std::function<void(const Expr& leaf)>& told);

}  // namespace tulle::expr
