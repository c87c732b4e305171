// How the reductions of a statement are gathered: in the result itself, in workspaces that are
// filled together, or each in a scalar of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "expr/program.h"
#include "nest/monoid.h"

namespace tulle::plan {

using Tensors = std::map<std::string, expr::TensorType>;

enum class Gathering : uint8_t {
  Nothing,  // there is no reduction outside others
  Result,   // the value is one reduction: the result accumulates
  Tuple,    // reductions over the same indices: their workspaces are filled by the same loops
  Scalars,  // each in a scalar right before its use
};

// Absent and 0 are the same in a dense result, which also has room for every coordinate.
Gathering gathering_of(const expr::Statement& statement, const Tensors& tensors);

// Whether an absent sum in the statement has to be told from 0.
bool tells_absence(const expr::Statement& statement, const Tensors& tensors);
// Whether a value that is one reduction has the same bits for every order of its terms.
bool is_exact_in_any_order(const expr::Statement& statement, DType type);

// The reductions that are in no other reduction.
std::vector<const expr::Reduce*> topmost_reductions(const expr::Expr& expr);

// How the terms of an expanded reduction accumulate, and the terms.
nest::Monoid monoid_of(const expr::Reduce& reduce);
nest::Monoid monoid_of(expr::Reduction op);
expr::Expr term_of(const expr::Reduce& reduce);
// The reduction whose workspace leads this one's; null where it stands alone.
expr::Expr lead_of(const expr::Reduce& reduce);

// The indices that Result and Tuple run over outside the others; empty for the other two.
std::vector<std::string> gathered_indices(const expr::Statement& statement, const Tensors& tensors);

}  // namespace tulle::plan
