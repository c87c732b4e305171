// The derivative of one statement in normal form.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expr/program.h"
#include "grad/names.h"
#include "grad/partials.h"

namespace tulle::grad {

// How a statement depends on the tensors that it reads.
struct StatementRule {
  // Of the value; if `softmax` is set, of its body.
  std::vector<Partial> partials;
  const expr::Softmax* softmax = nullptr;  // belongs to the statement
  // Statements that compute tensors which the partials read, such as the number of ties of a
  // maximum.
  std::vector<expr::Statement> needed;
};

// The rule of a statement for its uses of active tensors. The rule may read the tensor that the
// statement assigns. If that tensor is sparse, the rule need not repeat that it has a value only
// within masks around the value of the statement.
StatementRule rule_of(const expr::Statement& statement, bool is_sparse,
                      const std::function<bool(const expr::Access&)>& is_active, Names& names);

}  // namespace tulle::grad
