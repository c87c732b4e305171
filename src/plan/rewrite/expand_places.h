// argmax and argmin over an extent, from the entries of a row and its first gap.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expr/program.h"
#include "plan/rewrite/gathering.h"

namespace tulle::plan {

struct PlacesContext {
  const Tensors& tensors;
  // Whether a tensor has few entries for its number of rows.
  std::function<bool(const expr::Access& access, const std::string& row)> are_few;
  // Adds an intermediate in that format, computed before the statement. Returns its name.
  std::function<std::string(const expr::Statement& part, const Format& format)> name;
};

// If the best entry of a row is worse than 0, argmax is the first coordinate without an entry (the
// gap). If it is 0, argmax is the smaller of both places. The gap is the number of entries whose
// position in the row equals their coordinate. So argmax(j, x) becomes a choice between the place
// of the best entry and the gap, after statements that compute the gaps. If no operand stores the
// entries of x row by row, another statement does. If intermediates would be larger than the
// result, the reduction stays and loops over the extent.
//
// Returns those statements. Some of them use positions of entries (asks_for_positions); their
// operands must not be converted.
std::vector<expr::Statement> expand_places(expr::Statement& statement,
                                           const PlacesContext& context);

bool asks_for_positions(const expr::Expr& expr);

}  // namespace tulle::plan
