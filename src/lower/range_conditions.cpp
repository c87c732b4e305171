// Checks the variables that other variables were split from.
#include "lower/range_conditions.h"

#include <algorithm>
#include <functional>

#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;
using Origin = nest::Variable::Origin;

namespace {

// Whether some variable in `padded` runs through blocks of the index.
bool is_in_blocks(const KernelContext& kernel, const std::string& index,
                  const std::set<std::string>& padded) {
  return std::any_of(padded.begin(), padded.end(), [&](const std::string& inside) {
    return kernel.nest.variable(inside).parent == index;
  });
}

// The conditions that the parents of split variables are within their extents, for parents that
// this scope makes known.
RangeConditions split_conditions(const KernelContext& kernel,
                                 const std::vector<std::string>& variables,
                                 const std::set<std::string>& padded, const KernelScope& before,
                                 const KernelScope& scope) {
  const Coordinates& coordinates = kernel.coordinates;
  RangeConditions conditions;
  std::set<std::string> seen;
  const std::function<void(const std::string&)> visit = [&](const std::string& part) {
    const nest::Variable& variable = kernel.nest.variable(part);
    if (variable.origin == Origin::Source || variable.origin == Origin::Stored ||
        variable.origin == Origin::Difference) {
      return;
    }
    visit(variable.parent);
    if (variable.origin == Origin::Fused) return visit(variable.second);
    const Expr coordinate = coordinates.coordinate(variable.parent, scope.coordinates);
    if (!coordinate || coordinates.coordinate(variable.parent, before.coordinates)) return;
    const auto known = kernel.nest.known_extent(variable.parent);
    if ((known && *known % variable.factor == 0) || !seen.insert(variable.parent).second) return;
    const Expr fits = coordinate < coordinates.extent(variable.parent);
    Expr& condition =
        is_in_blocks(kernel, variable.parent, padded) ? conditions.in_range : conditions.exists;
    condition = condition ? loop::both(condition, fits) : fits;
  };
  for (const std::string& variable : variables) visit(variable);
  return conditions;
}

// Whether a coordinate computed from a difference is within the index's extent.
Expr lies_within(const KernelContext& kernel, const std::string& index, const Expr& coordinate) {
  return loop::both(IntConst::make(0) <= coordinate, coordinate < kernel.coordinates.extent(index));
}

// The condition that coordinates computed from differences are within their extents, for those that
// this scope makes known. A diagonal may end before a loop's part of the index, or begin inside it.
Expr diagonal_condition(const KernelContext& kernel, const KernelScope& before,
                        const KernelScope& scope) {
  Expr all;
  for (const auto& [name, variable] : kernel.nest.variables) {
    if (variable.origin != Origin::Difference) continue;
    const Expr coordinate = kernel.coordinates.coordinate(variable.parent, scope.coordinates);
    if (!coordinate || kernel.coordinates.coordinate(variable.parent, before.coordinates)) continue;
    const Expr fits = lies_within(kernel, variable.parent, coordinate);
    all = all ? loop::both(all, fits) : fits;
  }
  return all;
}

}  // namespace

RangeConditions range_conditions(const KernelContext& kernel, const nest::Forall& loop,
                                 bool visits_padding, const std::set<std::string>& padded,
                                 const KernelScope& before, const KernelScope& scope) {
  // Loop bounds handle splits, but not fused variables.
  bool is_fused = false;
  for (std::string var = loop.var; !is_fused && kernel.nest.variable(var).origin != Origin::Source;
       var = kernel.nest.variable(var).parent) {
    is_fused = kernel.nest.variable(var).origin == Origin::Fused;
  }
  if (mutant("block-unguarded")) return {};
  const nest::Variable& variable = kernel.nest.variable(loop.var);
  if (variable.origin == Origin::Difference) {
    // The diagonal may end before this row or begin after it.
    const Expr coordinate = kernel.coordinates.coordinate(variable.parent, scope.coordinates);
    if (!coordinate) return {};
    const Expr fits = lies_within(kernel, variable.parent, coordinate);
    if (is_in_blocks(kernel, variable.parent, padded)) return {{}, fits};
    return {fits, {}};
  }
  if (variable.origin == Origin::Source) return {};
  RangeConditions conditions;
  if (is_fused || visits_padding)
    conditions = split_conditions(kernel, {loop.var}, padded, before, scope);
  if (const Expr fits = diagonal_condition(kernel, before, scope))
    conditions.exists = conditions.exists ? loop::both(conditions.exists, fits) : fits;
  return conditions;
}

Expr thread_condition(const KernelContext& kernel, const nest::Forall& loop,
                      const KernelScope& before, const KernelScope& scope) {
  if (mutant("bind-unguarded")) return {};
  return split_conditions(kernel, {loop.var}, {}, before, scope).exists;
}

Expr stored_row_condition(const KernelContext& kernel, const KernelScope& before,
                          const KernelScope& scope) {
  if (before.coordinates.size() == scope.coordinates.size()) return {};
  std::vector<std::string> all;
  for (const auto& [name, variable] : kernel.nest.variables) all.push_back(name);
  return split_conditions(kernel, all, {}, before, scope).exists;
}

Expr copy_condition(const KernelContext& kernel, const nest::Assign& assign,
                    const KernelScope& before, const KernelScope& scope) {
  return split_conditions(kernel, assign.indices, {}, before, scope).exists;
}

}  // namespace tulle::lower
