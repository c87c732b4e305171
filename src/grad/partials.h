// The partial derivatives of an expression in normal form.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expr/expr.h"

namespace tulle::grad {

// A use of a tensor in an expression, and the derivative of the expression towards it: the product
// of the factors divided by the product of the divisors, for each coordinate of the sums around the
// use.
struct Partial {
  const expr::Access* leaf = nullptr;
  std::vector<expr::Expr> factors = {};
  std::vector<expr::Expr> divisors = {};
  std::vector<std::string> summed = {};  // the indices of these sums
};

// The partial derivatives of `value` towards each use of a tensor for which `is_active` holds. The
// reductions of `value` are sums in linear places. `at_hand` is an access that has the value of the
// whole expression, or null. The accesses belong to `value`.
std::vector<Partial> partials(const expr::Expr& value,
                              const std::function<bool(const expr::Access&)>& is_active,
                              const expr::Expr& at_hand);

}  // namespace tulle::grad
