// Placing sums.
#include "grad/contraction.h"

#include <algorithm>

#include "grad/build.h"
#include "support/mutant.h"

namespace tulle::grad {

using expr::Access;
using expr::Expr;
using expr::Statement;

namespace {

using Indices = std::vector<std::string>;

// The product of the first `count` factors, summed over the indices.
Expr summed_product(const std::vector<Expr>& factors, size_t count, const Indices& indices) {
  const Expr& last = factors[count - 1];
  const Indices right = both(indices, expr::free_indices(last));
  if (count == 1) return sum(right, last);
  Indices left;
  for (size_t at = 0; at + 1 < count; ++at) {
    for (const std::string& index : both(indices, expr::free_indices(factors[at]))) {
      if (!contains(left, index)) left.push_back(index);
    }
  }
  const Indices shared = both(left, right);
  return sum(shared, summed_product(factors, count - 1, minus(left, shared)) *
                         sum(minus(right, shared), last));
}

// Whether the product is absent without this factor, too: it is ones(A[i,j]) beside A[i,j].
bool is_implied(const Expr& factor, const std::vector<Expr>& others) {
  const auto* ones = factor.as<expr::Unary>();
  if (!ones || ones->function != expr::ElementFunction::Ones || !ones->value.as<Access>()) {
    return false;
  }
  return std::any_of(others.begin(), others.end(), [&](const Expr& other) {
    return mutant("mask-presumed-implied") ||
           (other.as<Access>() && expr::is_same(other, ones->value));
  });
}

// The factors without those that others imply.
std::vector<Expr> simplified(const std::vector<Expr>& factors) {
  std::vector<Expr> kept;
  for (const Expr& factor : factors) {
    if (!is_implied(factor, factors)) kept.push_back(factor);
  }
  return kept;
}

}  // namespace

Expr contracted(const Statement& statement, const Quotient& quotient, const Indices& summed,
                Extents& extents) {
  std::vector<Expr> factors = simplified(quotient.factors);
  std::vector<Expr> around;  // divisors outside of all sums
  for (const Expr& divisor : quotient.divisors) {
    const bool is_outside = both(expr::free_indices(divisor), summed).empty();
    if (is_outside) around.push_back(divisor);
    if (!is_outside) factors.push_back(number(1) / divisor);
  }
  Indices used;
  for (const Expr& factor : factors) {
    for (const std::string& index : both(summed, expr::free_indices(factor))) {
      if (!contains(used, index)) used.push_back(index);
    }
  }
  Expr value = summed_product(factors, factors.size(), used);
  for (const std::string& index : minus(summed, used)) {
    if (mutant("repetitions-forgotten")) break;
    value = value * extents.of(statement.value, index);
  }
  for (const Expr& divisor : around) {
    if (mutant("divisor-around-sum-lost")) break;
    value = value / divisor;
  }
  return extents.defined(value, statement.value);
}

}  // namespace tulle::grad
