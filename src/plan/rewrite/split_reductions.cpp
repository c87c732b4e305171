// Separates the reductions of a statement.
#include "plan/rewrite/split_reductions.h"

#include <algorithm>

#include "expr/walk.h"
#include "plan/rewrite/computed_before.h"
#include "support/half.h"

namespace tulle::plan {

using expr::Access;
using expr::Expr;
using expr::Reduce;

namespace {

bool can_be_split(const expr::Statement& statement, const Tensors& tensors) {
  const std::vector<const Reduce*> all = topmost_reductions(statement.value);
  return !all.empty() && !statement.value.as<Reduce>() &&
         tensors.at(statement.tensor).format.is_dense() && !tells_absence(statement, tensors) &&
         std::none_of(all.begin(), all.end(),
                      [](const Reduce* reduce) { return lead_of(*reduce).get() != nullptr; });
}

}  // namespace

std::optional<SplitStatement> split_reductions(
    const expr::Statement& statement, const Tensors& tensors,
    const std::function<std::string(const expr::Statement&)>& name) {
  if (!can_be_split(statement, tensors)) return std::nullopt;
  SplitStatement split{{}, statement};
  int id = expr::next_access_id(statement.value);
  ComputedBefore computed;
  const std::function<Expr(const Expr&)> cut = [&](const Expr& expr) -> Expr {
    const auto* reduce = expr.as<Reduce>();
    if (!reduce) return expr::with_children(expr, cut);
    if (const Expr known = computed.find(expr)) return known;
    expr::Statement part{{}, expr::free_indices(expr), expr};
    part.tensor = name(part);
    const Expr access = Access::make(id++, part.tensor, part.indices, compute_type(expr.type()));
    computed.add(expr, access);
    split.before.push_back(std::move(part));
    return access;
  };
  split.statement.value = cut(statement.value);
  return split;
}

}  // namespace tulle::plan
