// The way to gather the reductions of a statement: in the result itself, in workspaces that are
// filled together, or each in its own scalar.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "expr/program.h"
#include "nest/monoid.h"

namespace tulle::plan {

using Tensors = std::map<std::string, expr::TensorType>;

enum class Gathering : uint8_t {
  Nothing,  // no outermost reduction
  Result,   // the value is one reduction, and the result accumulates it
  Tuple,    // reductions over the same indices, whose workspaces the same loops fill
  Scalars,  // each in a scalar directly before its use
};

// In a dense result, absent and 0 are equivalent, and every coordinate has a location.
Gathering gathering_of(const expr::Statement& statement, const Tensors& tensors);

// Whether the statement distinguishes an absent sum from 0.
bool tells_absence(const expr::Statement& statement, const Tensors& tensors);
// For a value that is one reduction: whether every order of its terms gives the same bits.
bool is_exact_in_any_order(const expr::Statement& statement, DType type);

// The reductions that are inside no other reduction.
std::vector<const expr::Reduce*> topmost_reductions(const expr::Expr& expr);

// The accumulation operation of an expanded reduction, and its terms.
nest::Monoid monoid_of(const expr::Reduce& reduce);
nest::Monoid monoid_of(expr::Reduction op);
expr::Expr term_of(const expr::Reduce& reduce);
// The reduction whose workspace leads this one's. Null if it has no lead.
expr::Expr lead_of(const expr::Reduce& reduce);

// For Result and Tuple: the indices of the outer loops of the reductions. Empty for the other two.
std::vector<std::string> gathered_indices(const expr::Statement& statement, const Tensors& tensors);

}  // namespace tulle::plan
