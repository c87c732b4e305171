// Checks of expressions; part of the verifier.
#pragma once

#include "loop/verify_scope.h"

namespace tulle::loop {

// Raises an InternalError that quotes the subexpression whose names or types are wrong.
void verify_expr(const Expr& expr, const VerifierScope& scope);
// The same, and the expression has the type.
void verify_expr(const Expr& expr, Type type, const VerifierScope& scope);

// Whether the reduction is defined for the type.
bool reduces(ReduceOp op, DType type);

}  // namespace tulle::loop
