// Derivatives of element functions.
#pragma once

#include "expr/expr.h"

namespace tulle::grad {

// The derivative of `function` at `argument`. `value` is the value of the function there if it is
// at hand, else null: the derivative of exp is then its value. Null if the derivative is 0
// everywhere.
expr::Expr element_derivative(expr::ElementFunction function, const expr::Expr& argument,
                              const expr::Expr& value);

}  // namespace tulle::grad
