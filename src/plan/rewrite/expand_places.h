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

// Where the best of a row is worse than 0, the place wanted is that of the first coordinate without
// an entry; where it is 0, the first of both. That gap is as far from 0 as there are entries whose
// number in their row is their coordinate. So argmax(j, x) becomes a choice between the place of
// the best entry and the gap, after statements for the gaps and, where no operand stores the
// entries of x row by row, for these. What is larger than the result is not computed before it:
// such places are left to walk over the extent.
//
// Returns those statements. The positions that some of them ask for (asks_for_positions) are those
// of operands as they are stored: these may not be converted.
std::vector<expr::Statement> expand_places(expr::Statement& statement,
                                           const PlacesContext& context);

bool asks_for_positions(const expr::Expr& expr);

}  // namespace tulle::plan
