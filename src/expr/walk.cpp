// Walking over expressions.
#include "expr/walk.h"

#include <algorithm>

namespace tulle::expr {

bool any_part(const Expr& expr, const std::function<bool(const Expr&)>& predicate) {
  if (predicate(expr)) return true;
  const std::vector<Expr> parts = children(expr);
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Expr& part) { return any_part(part, predicate); });
}

bool has_reduction(const Expr& expr) {
  return any_part(expr, [](const Expr& part) { return part.as<Reduce>() != nullptr; });
}

int next_access_id(const Expr& expr) {
  int next = 0;
  for (const Access* access : accesses(expr)) next = std::max(next, access->id + 1);
  return next;
}

Expr renumbered(const Expr& expr, int& next_id) {
  if (const auto* access = expr.as<Access>()) {
    Access changed = *access;
    changed.id = next_id++;
    return std::make_shared<const Access>(std::move(changed));
  }
  return with_children(expr, [&](const Expr& child) { return renumbered(child, next_id); });
}

}  // namespace tulle::expr
