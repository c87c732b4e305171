// Half types are storage types: computations with them use f32.
#pragma once

#include "expr/program.h"

namespace tulle::expr {

// Gives every node of a half type the type f32, except accesses: a read widens, so an access keeps
// the storage type of its tensor.
Expr widen_halves(const Expr& value);

// Widens all statements of the program. Intermediates are stored as f32, so that a result is
// rounded only once.
void widen_halves(ResolvedProgram& program);

}  // namespace tulle::expr
