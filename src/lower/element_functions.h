// Element functions and binary operations of expressions as loop IR.
#pragma once

#include "expr/program.h"
#include "loop/expr.h"

namespace tulle::lower {

// InternalError for functions that do not depend on a value (ones, position).
loop::Expr apply(expr::ElementFunction function, const loop::Expr& x);
loop::Expr apply(expr::BinaryOp op, const loop::Expr& a, const loop::Expr& b);

}  // namespace tulle::lower
