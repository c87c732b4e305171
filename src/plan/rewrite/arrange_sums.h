// Sums inside a statement: pulled out of products where that costs nothing, computed on their own
// where that saves work.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::plan {

// A sum that is a factor of a product and varies with every loop around it joins the sum outside:
// sum(k, sum(j, T*B)*C) becomes sum((k,j), T*B*C), whose loops can be put in any order. In a
// maximum or an exponent there is none to join. Nor is within(A, sum(d, Q*K)) left in the way,
// where that has the same entries as sum(d, within(A, Q*K)): something is added up, all of it
// dense.
//
// Any other sum that does not vary with some loop around it would be computed again and again
// there: it becomes a statement of its own before this one, as long as what it leaves behind is
// bounded by sparse operands (or is a vector), so that nothing is computed that a mask would leave
// out. `has_coordinates` says of which indices it is known that they have any; `name` gives the
// intermediate a name and learns its type. With `keeps_outermost`, sums that
// stand in no other stay where they are: they are gathered together.
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
