// Indices as sums: a constant plus terms with constant coefficients.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "loop/expr.h"

namespace tulle::passes {

// constant + coefficient * term + ...; no two terms are the same and no coefficient is zero.
struct Linear {
  int64_t constant = 0;
  std::vector<std::pair<loop::Expr, int64_t>> terms;

  void add(const Linear& other, int64_t times);
  // What multiplies the variable `name` as a term of its own.
  int64_t coefficient(const std::string& name) const;
};

// Of a 64-bit integer; what is neither sum, difference nor multiple becomes a term.
Linear linear_form(const loop::Expr& index);

// a - b where it is a constant.
std::optional<int64_t> constant_difference(const loop::Expr& a, const loop::Expr& b);

}  // namespace tulle::passes
