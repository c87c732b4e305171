// The rules by which simplify shortens expressions.
#pragma once

#include "loop/expr.h"

namespace tulle::passes {

// A shorter expression of the same value, or the expression itself; its operands are taken to be
// simple already.
loop::Expr simplify_node(const loop::Expr& expr);

}  // namespace tulle::passes
