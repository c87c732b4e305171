// Elementary functions as expressions over names that a caller binds.
#pragma once

#include <functional>
#include <string>

#include "loop/expr.h"
#include "support/backend.h"

namespace tulle::passes {

// Binds an expression to a new name that begins like the given one; the variable.
using Binder = std::function<loop::Expr(const std::string& wish, const loop::Expr& value)>;

// The function of a variable or constant, or null where it is not written out. On a GPU it may use
// Exp2.
loop::Expr write_out(loop::Function function, const loop::Expr& x, const Binder& bind,
                     Backend backend);

}  // namespace tulle::passes
