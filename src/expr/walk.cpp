// Traversal of expressions.
#include "expr/walk.h"

#include <algorithm>
#include <map>
#include <utility>

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

namespace {

using Numbers = std::map<std::pair<std::string, std::vector<std::string>>, int>;

Expr numbered_as(const Expr& expr, const StructureOf& structure, Numbers& numbers) {
  if (const auto* access = expr.as<Access>()) {
    const auto key = std::pair(structure(access->tensor), access->indices);
    const int id = numbers.try_emplace(key, access->id).first->second;
    if (id == access->id) return expr;
    Access changed = *access;
    changed.id = id;
    return std::make_shared<const Access>(std::move(changed));
  }
  return with_children(expr,
                       [&](const Expr& child) { return numbered_as(child, structure, numbers); });
}

}  // namespace

Expr with_shared_numbers(const Expr& expr, const StructureOf& structure) {
  Numbers numbers;
  return numbered_as(expr, structure, numbers);
}

}  // namespace tulle::expr
