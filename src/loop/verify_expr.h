// The expression checks of the verifier.
#pragma once

#include "loop/verify_scope.h"

namespace tulle::loop {

// Raises an InternalError that quotes the subexpression with an undeclared name or a type error.
void verify_expr(const Expr& expr, const VerifierScope& scope);
// The same, and checks that the expression has the type.
void verify_expr(const Expr& expr, Type type, const VerifierScope& scope);

// Whether the reduction is defined for the type.
bool reduces(ReduceOp op, DType type);

}  // namespace tulle::loop
