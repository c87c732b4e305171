// Compares the innermost loop with the innermost levels of tensors.
#include "plan/order/contiguous_loop.h"

#include <algorithm>

#include "plan/order/native_order.h"

namespace tulle::plan {

namespace {

enum class Contact : uint8_t { None, Contiguous, Strided };

// The access pattern of a loop over the variable in a tensor with these indices.
Contact contact_of(const Format& format, const std::vector<std::string>& indices,
                   const std::string& var, const LoopSpace& space) {
  Contact contact = Contact::None;
  for (int l = 0; l < format.level_count(); ++l) {
    const Level& level = format.levels()[static_cast<size_t>(l)];
    const std::string at = level_variable(level.expr, indices, space);
    const auto& parts = space.parts.at(indices[static_cast<size_t>(level.expr.dimension)]);
    const bool touches = at == var || (at.empty() && position_of(parts, var) >= 0);
    if (!touches) continue;
    contact = Contact::Contiguous;
    if (!is_full(level.kind) || l + 1 != format.level_count()) return Contact::Strided;
    if (at.empty() && parts.back() != var) return Contact::Strided;
  }
  return contact;
}

// Whether the variable is part of a difference of indices.
bool is_slanted(const std::string& var, const LoopSpace& space) {
  return std::any_of(space.variables.begin(), space.variables.end(), [&](const auto& entry) {
    return entry.second.origin == nest::Variable::Origin::Difference &&
           (entry.first == var || entry.second.second == var);
  });
}

}  // namespace

bool is_contiguous(const WalkedOperands& operands, const std::vector<std::string>& order,
                   Route route) {
  const OrderProblem& problem = operands.problem;
  if (order.empty() || is_slanted(order.back(), problem.space)) return false;
  const std::string& var = order.back();
  bool used = false;
  const auto fits = [&](const std::string& tensor, const std::vector<std::string>& indices) {
    const Contact contact =
        contact_of(operands.type_of(tensor).format, indices, var, problem.space);
    used = used || contact != Contact::None;
    return contact != Contact::Strided;
  };
  for (const expr::Access* access : operands.all) {
    if (!fits(access->tensor, access->indices)) return false;
  }
  const bool in_result = !problem.reduced.contains(var) && position_of(problem.inner, var) < 0;
  if (!in_result) return used;
  // Trailing dense levels of an appended result are contiguous, and so are blocks in a workspace.
  if (route == Route::Sort) return false;
  return fits(problem.statement->tensor, problem.statement->indices) && used;
}

}  // namespace tulle::plan
