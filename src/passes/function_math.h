// Elementary functions as expressions.
#pragma once

#include <functional>
#include <string>

#include "loop/expr.h"
#include "support/backend.h"

namespace tulle::passes {

// Binds an expression to a new name that starts with `wish` and returns the variable.
using Binder = std::function<loop::Expr(const std::string& wish, const loop::Expr& value)>;

// Expands a function of a variable or constant; null if the function is not expanded. GPU code may
// use Exp2.
loop::Expr write_out(loop::Function function, const loop::Expr& x, const Binder& bind,
                     Backend backend);

}  // namespace tulle::passes
