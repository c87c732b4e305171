// Telling operands apart.
#include "plan/walked_operands.h"

#include <algorithm>

#include "expr/absence.h"

namespace tulle::plan {

using expr::Access;

WalkedOperands::WalkedOperands(const OrderProblem& of)
    : problem(of), all(expr::accesses(of.statement->value)) {
  for (const Access* access : all) {
    const Format& format = type_of(access->tensor).format;
    const bool known = std::any_of(sparse.begin(), sparse.end(),
                                   [&](const Access* other) { return other->id == access->id; });
    if (format.is_dense() || known) continue;
    sparse.push_back(access);
    const auto left = expr::without(problem.statement->value,
                                    [&](const Access& a) { return a.id == access->id; });
    if (expr::is_zero(left)) decisive.insert(access->id);
  }
}

bool WalkedOperands::walks(const Access& access, const std::string& var) const {
  for (const Level& level : type_of(access.tensor).format.levels()) {
    if (!is_full(level.kind) && level_variable(level.expr, access.indices, problem.space) == var)
      return true;
  }
  return false;
}

}  // namespace tulle::plan
