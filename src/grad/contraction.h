// Products of factors, summed over indices.
#pragma once

#include <string>
#include <vector>

#include "expr/program.h"
#include "grad/extents.h"

namespace tulle::grad {

struct Quotient {
  std::vector<expr::Expr> factors;  // at least one
  std::vector<expr::Expr> divisors;
};

// The product of the factors over the product of the divisors, summed over the indices. Each sum is
// around the smallest product that has all uses of its index. An index that only `statement` has,
// from which the quotient was derived, multiplies the result by its extent.
expr::Expr contracted(const expr::Statement& statement, const Quotient& quotient,
                      const std::vector<std::string>& summed, Extents& extents);

}  // namespace tulle::grad
