// The rules that simplify applies to expressions.
#pragma once

#include "loop/expr.h"

namespace tulle::passes {

// A shorter expression with the same value, or the expression itself. Its operands must be
// simplified already.
loop::Expr simplify_node(const loop::Expr& expr);

}  // namespace tulle::passes
