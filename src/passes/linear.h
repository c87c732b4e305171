// Linear forms of indices: a constant plus terms with constant coefficients.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "loop/expr.h"

namespace tulle::passes {

// constant + coefficient * term + ...; terms are distinct and coefficients are not zero.
struct Linear {
  int64_t constant = 0;
  std::vector<std::pair<loop::Expr, int64_t>> terms;

  void add(const Linear& other, int64_t times);
  // The coefficient of the variable `name` as a term; 0 if it is not a term.
  int64_t coefficient(const std::string& name) const;
};

// The linear form of a 64-bit integer. An expression other than a sum, difference or multiple is a
// term.
Linear linear_form(const loop::Expr& index);

// a - b if the difference is constant.
std::optional<int64_t> constant_difference(const loop::Expr& a, const loop::Expr& b);

}  // namespace tulle::passes
