// Half types are for storage: what is computed from them is computed in f32.
#pragma once

#include "expr/program.h"

namespace tulle::expr {

// The expression with f32 wherever a node that is no access has a half type. Reading widens, so
// that accesses keep the type that the tensor is stored in.
Expr widen_halves(const Expr& value);

// All statements of the program so. Intermediates are kept in f32, so that what the program gives
// back is rounded once.
void widen_halves(ResolvedProgram& program);

}  // namespace tulle::expr
