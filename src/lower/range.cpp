// Going through what variables were split from.
#include "lower/range.h"

#include <functional>
#include <set>

#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;
using Origin = nest::Variable::Origin;

namespace {

// Whether what the variables were split from, and becomes known, lies within its extent.
Expr split_condition(const KernelContext& kernel, const std::vector<std::string>& variables,
                     const Scope& before, const Scope& scope) {
  const Coordinates& coordinates = kernel.coordinates;
  Expr condition;
  std::set<std::string> seen;
  const std::function<void(const std::string&)> visit = [&](const std::string& part) {
    const nest::Variable& variable = kernel.nest.variable(part);
    if (variable.origin == Origin::Source || variable.origin == Origin::Stored ||
        variable.origin == Origin::Difference) {
      return;
    }
    visit(variable.parent);
    if (variable.origin == Origin::Fused) return visit(variable.second);
    const Expr coordinate = coordinates.coordinate(variable.parent, scope);
    if (!coordinate || coordinates.coordinate(variable.parent, before)) return;
    const auto known = kernel.nest.known_extent(variable.parent);
    if ((known && *known % variable.factor == 0) || !seen.insert(variable.parent).second) return;
    const Expr fits = coordinate < coordinates.extent(variable.parent);
    condition = condition ? loop::both(condition, fits) : fits;
  };
  for (const std::string& variable : variables) visit(variable);
  return condition;
}

}  // namespace

Expr range_condition(const KernelContext& kernel, const nest::Forall& loop, bool visits_padding,
                     const Scope& before, const Scope& scope) {
  // Bounds reach through splits, not through what was fused.
  bool is_fused = false;
  for (std::string var = loop.var; !is_fused && kernel.nest.variable(var).origin != Origin::Source;
       var = kernel.nest.variable(var).parent) {
    is_fused = kernel.nest.variable(var).origin == Origin::Fused;
  }
  if (mutant("block-unguarded")) return {};
  const nest::Variable& variable = kernel.nest.variable(loop.var);
  if (variable.origin == Origin::Difference) {
    // Of a diagonal that ends before this row, or begins after it.
    const Expr coordinate = kernel.coordinates.coordinate(variable.parent, scope);
    if (!coordinate) return {};
    return loop::both(IntConst::make(0) <= coordinate,
                      coordinate < kernel.coordinates.extent(variable.parent));
  }
  if ((!is_fused && !visits_padding) || kernel.nest.variable(loop.var).origin == Origin::Source)
    return {};
  return split_condition(kernel, {loop.var}, before, scope);
}

Expr thread_condition(const KernelContext& kernel, const nest::Forall& loop, const Scope& before,
                      const Scope& scope) {
  if (mutant("bind-unguarded")) return {};
  return split_condition(kernel, {loop.var}, before, scope);
}

Expr copy_condition(const KernelContext& kernel, const nest::Assign& assign, const Scope& before,
                    const Scope& scope) {
  return split_condition(kernel, assign.indices, before, scope);
}

}  // namespace tulle::lower
