// Computes where an expression has a value.
#pragma once

#include <functional>
#include <string>

#include "expr/expr.h"

namespace tulle::expr {

using IsSparse = std::function<bool(const std::string& tensor)>;

// Whether the expression has a value even where no sparse operand has an entry.
bool is_everywhere(const Expr& expr, const IsSparse& is_sparse);

// Returns a small expression that has a value exactly where `expr` has one.
Expr presence_of(const Expr& expr, const IsSparse& is_sparse);

}  // namespace tulle::expr
