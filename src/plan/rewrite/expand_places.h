// argmax and argmin over an extent, told from the entries of a row and from where it has none.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expr/program.h"
#include "plan/rewrite/gathering.h"

namespace tulle::plan {

struct PlacesContext {
  const Tensors& tensors;
  // Whether a tensor has few entries for so many rows.
  std::function<bool(const expr::Access& access, const std::string& row)> are_few;
  // A name for what is computed before the statement, stored in that format.
  std::function<std::string(const expr::Statement& part, const Format& format)> name;
};

// If the best entry of a row is worse than 0, argmax is the first coordinate without an entry (the
// gap); if it is 0, the smaller of both places. The gap is the number of entries whose position in
// the row equals their coordinate. So argmax(j, x) becomes a choice between the place of the best
// entry and the gap, after statements that compute the gaps and, where no operand stores the
// entries of x row by row, these entries. Intermediates larger than the result are not computed:
// such reductions walk over the extent instead.
//
// Returns those statements. Some of them ask for positions of entries (asks_for_positions); the
// operands of these must not be converted.
std::vector<expr::Statement> expand_places(expr::Statement& statement,
                                           const PlacesContext& context);

bool asks_for_positions(const expr::Expr& expr);

}  // namespace tulle::plan
