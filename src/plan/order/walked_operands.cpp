// Classifies operands.
#include "plan/order/walked_operands.h"

#include <algorithm>

#include "expr/absence.h"
#include "plan/order/native_order.h"

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

bool WalkedOperands::is_converted(const expr::Access& access,
                                  const std::vector<std::string>& order) const {
  const Format& format = type_of(access.tensor).format;
  std::vector<std::string> as_stored = order;
  for (const Level& level : format.levels()) {
    const std::string var = level_variable(level.expr, access.indices, problem.space);
    if (!var.empty() && position_of(order, var) < 0) as_stored.push_back(var);
  }
  return !is_native(format, access.indices, as_stored, problem.space);
}

}  // namespace tulle::plan
