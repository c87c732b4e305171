// Split_positions: forall j -> forall j0 { forall j1 }, counting entries.
#include "schedule/rewrites/split_positions.h"

#include <algorithm>
#include <cstdint>

#include "expr/absence.h"
#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

// The distinct accesses in the statement that hold only some coordinates of the variable. A loop
// over the variable walks over their entries.
std::vector<const expr::Access*> walked_along(const Nest& nest, const Stmt& stmt,
                                              const std::string& var) {
  std::vector<const expr::Access*> found;
  for (const Assign* assign : assigns(stmt)) {
    for (const expr::Access* access : expr::accesses(assign->value)) {
      const bool known = std::any_of(found.begin(), found.end(),
                                     [&](const auto* other) { return other->id == access->id; });
      if (!known && stores_sparsely(nest, access->tensor, access->indices, var))
        found.push_back(access);
    }
  }
  return found;
}

}  // namespace

std::vector<const expr::Access*> walked_accesses(const Nest& nest, const Forall& loop) {
  return walked_along(nest, loop.body, loop.var);
}

int level_over(const Nest& nest, const expr::Access& access, const std::string& var) {
  const std::vector<Level>& levels = nest.tensor(access.tensor).type.format.levels();
  const Variable& variable = nest.variable(var);
  for (size_t l = 0; l < levels.size(); ++l) {
    const std::string& index = access.indices[static_cast<size_t>(levels[l].expr.dimension)];
    const bool whole = levels[l].expr.part == LevelExpr::Part::Whole && index == var;
    const bool quotient = levels[l].expr.part == LevelExpr::Part::Quotient &&
                          variable.origin == Variable::Origin::Outer && variable.parent == index &&
                          variable.factor == levels[l].expr.divisor;
    if (whole || quotient) return static_cast<int>(l);
  }
  return -1;
}

Result<const expr::Access*> walked_access(const Nest& nest, const Forall& loop) {
  const std::vector<const expr::Access*> walked = walked_accesses(nest, loop);
  if (walked.empty()) {
    return refusal("All tensors hold every coordinate of '", loop.var,
                   "', so there are no entries to count; use split.");
  }
  if (walked.size() > 1) {
    return refusal("The loop over '", loop.var, "' walks over '", walked[0]->tensor, "' and '",
                   walked[1]->tensor,
                   "' together, and positions are those of one operand; use split.");
  }
  const expr::Access& access = *walked.front();
  const Tensor& tensor = nest.tensor(access.tensor);
  const int level = level_over(nest, access, loop.var);
  const auto& levels = tensor.type.format.levels();
  const auto is_stored = [](const Level& walked) {
    return walked.unique && stores_coordinates(walked.kind) && !is_branchless(walked.kind);
  };
  if (tensor.role != Tensor::Role::Operand || level < 0 ||
      !is_stored(levels[static_cast<size_t>(level)])) {
    return refusal("'", access.tensor, "' does not store the entries along '", loop.var,
                   "' of each parent consecutively; use split.");
  }
  return &access;
}

Result<const expr::Access*> walked_rows(const Nest& nest, const Forall& loop) {
  const Result<const expr::Access*> walked = walked_access(nest, loop);
  if (!walked) return walked;
  const expr::Access& access = **walked;
  const int level = level_over(nest, access, loop.var);
  const auto& levels = nest.tensor(access.tensor).type.format.levels();
  if (stores_positions(levels[static_cast<size_t>(level)].kind)) return walked;
  return refusal("'", access.tensor, "' stores the same number of entries along '", loop.var,
                 "' for each parent, so no row is long; use split and split_positions.");
}

Result<> require_needed(const Forall& loop, const expr::Access& access) {
  for (const Assign* assign : lasting_assigns(loop.body)) {
    const expr::Expr rest = expr::without(
        assign->value, [&](const expr::Access& other) { return other.id == access.id; });
    const bool is_sum = nest::starts_absent(assign->accumulate);
    if (is_sum ? expr::is_zero(rest) : expr::is_absent(rest)) continue;
    return refusal("'", assign->tensor, "' has terms where '", access.tensor,
                   "' has no entry, so that the loop over '", loop.var,
                   "' visits more than entries; use split.");
  }
  return {};
}

Result<> require_known_structure(const Nest& nest, std::string_view step) {
  for (const auto& [name, tensor] : nest.tensors) {
    if (tensor.role == Tensor::Role::Result && !tensor.type.format.is_dense() &&
        tensor.shares_pattern_of.empty()) {
      return refusal("'", name, "' is built entry by entry and needs undivided loops; leave ", step,
                     " out.");
    }
  }
  return {};
}

namespace {

Result<> check_positions(const Nest& nest, const Forall& loop,
                         const std::vector<std::string>& around) {
  const Variable& variable = nest.variable(loop.var);
  for (const expr::Access* access : walked_along(nest, loop.body, variable.parent)) {
    const auto& levels = nest.tensor(access->tensor).type.format.levels();
    const int level = level_over(nest, *access, variable.parent);
    if (access->tensor != variable.tensor || level < 0) {
      return refusal("'", access->tensor, "' would have to be searched along '", variable.parent,
                     "', whose loops count the entries of '", variable.tensor,
                     "'; leave split_positions out.");
    }
    for (int above = 0; above < level; ++above) {
      const std::string& index =
          access->indices[static_cast<size_t>(levels[static_cast<size_t>(above)].expr.dimension)];
      if (nest.determines(around, index)) continue;
      return refusal("The loop over '", loop.var, "' counts the entries of '", variable.tensor,
                     "' for one '", index, "', but is outside the loop over it; move it inside.");
    }
  }
  return {};
}

}  // namespace

Result<Nest> split_positions(const Nest& nest, const SplitPositions& step) {
  const auto& [var, length, outer, inner] = step;
  TULLE_TRY(require_loop(nest, var));
  TULLE_TRY(require_untagged(nest, var, "split_positions"));
  TULLE_TRY(require_free_name(nest, outer));
  TULLE_TRY(require_free_name(nest, inner));
  TULLE_TRY(require_known_structure(nest, "split_positions"));
  Nest result = nest;
  TULLE_TRY(check_each_loop(nest.root, [&](const Forall& loop) -> Result<> {
    if (loop.var != step.loop) return {};
    const Result<const expr::Access*> access = walked_access(nest, loop);
    if (!access) return access.error();
    TULLE_TRY(require_needed(loop, **access));
    const std::string& tensor = (*access)->tensor;
    using Origin = Variable::Origin;
    result.variables[step.outer] = {Origin::OuterPosition, step.loop, {}, step.length, tensor};
    result.variables[step.inner] = {Origin::InnerPosition, step.loop, {}, step.length, tensor};
    return {};
  }));
  result.root = rebuild(nest.root, [&](const Stmt& stmt) {
    const auto* loop = stmt.as<Forall>();
    if (!loop || loop->var != step.loop) return stmt;
    return Forall::make(step.outer, Forall::make(step.inner, loop->body));
  });
  return result;
}

Result<> require_walkable_positions(const Nest& nest) {
  if (!has_variable(nest, [](const Variable& variable) { return variable.is_position(); }))
    return {};
  return check_each_loop_within(nest.root, [&](const Forall& loop, const NameList& around) {
    return nest.variable(loop.var).is_position() ? check_positions(nest, loop, around) : Result<>();
  });
}

}  // namespace tulle::schedule
