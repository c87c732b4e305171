// Moves sums inside a statement: pulls them out of products if that is free, and computes them
// separately if that saves work.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::plan {

// A sum that is a factor of a product and varies with every loop around it joins the outer sum:
// sum(k, sum(j, T*B)*C) becomes sum((k,j), T*B*C), whose loops can run in any order. A sum inside a
// maximum or an exponent has no outer sum to join. within(A, sum(d, Q*K)) becomes sum(d, within(A,
// Q*K)) if both have the same entries, that is if the sum has terms and all of them are dense.
//
// Any other sum that does not vary with some loop around it would be computed repeatedly there. It
// becomes a statement before this one if its result is a vector or bounded by sparse operands, so
// that nothing outside of a mask is computed. `has_coordinates` returns whether the extent of an
// index is known to be positive. `name` names an intermediate and records its type.
// `keeps_outermost` keeps sums that are in no other sum, because they are gathered together.
struct ArrangedStatement {
  std::vector<expr::Statement> before;
  expr::Statement statement;
};
ArrangedStatement arrange_sums(const expr::Statement& statement,
                               const std::function<bool(const std::string& tensor)>& is_sparse,
                               const std::function<bool(const std::string& tensor)>& is_unbounded,
                               const std::function<bool(const std::string& index)>& has_coordinates,
                               const std::function<std::string(const expr::Statement&)>& name,
                               bool keeps_outermost = false);

}  // namespace tulle::plan
