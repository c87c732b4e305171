// Queries over whole expressions.
#pragma once

#include <functional>

#include "expr/expr.h"

namespace tulle::expr {

// Whether the predicate holds for the expression or any subexpression.
bool any_part(const Expr& expr, const std::function<bool(const Expr&)>& predicate);

// Whether the expression contains a reduction.
bool has_reduction(const Expr& expr);

// An unused access number: the largest one plus 1.
int next_access_id(const Expr& expr);

// The expression with its accesses renumbered from `next_id` on, which is advanced.
Expr renumbered(const Expr& expr, int& next_id);

// The expression with one number for all accesses to the same tensor with the same indices. Tensors
// with the same `structure`, which is the name of one of them, count as the same tensor.
using StructureOf = std::function<const std::string&(const std::string& tensor)>;
Expr with_shared_numbers(const Expr& expr, const StructureOf& structure);

}  // namespace tulle::expr
