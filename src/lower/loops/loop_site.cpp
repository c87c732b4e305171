// Finds the operands that a loop walks over, and the effect on the result.
#include "lower/loops/loop_site.h"

namespace tulle::lower {

using loop::IntConst;

namespace {

AccessSet accesses_of_variable(const KernelContext& kernel, const nest::Forall& loop,
                               const KernelScope& scope) {
  AccessSet found;
  for (const expr::Access* access : live_accesses(loop.body, scope.absent)) {
    const Cursor& cursor = scope.cursors.at(access->id);
    const auto& levels = kernel.code(access->tensor).levels;
    if (cursor.level >= static_cast<int>(levels.size())) continue;
    if (levels[static_cast<size_t>(cursor.level)]->is_full()) continue;
    if (kernel.coordinates.is_level_variable(kernel.level(cursor).expr, access->indices, loop.var))
      found.insert(access->id);
  }
  return found;
}

}  // namespace

AccessSet walked_accesses(const KernelContext& kernel, const nest::Forall& loop,
                          const KernelScope& scope) {
  const AccessSet found = accesses_of_variable(kernel, loop, scope);
  // The accesses for which `is_found` is false, if the body vanishes without them. Otherwise none.
  const auto without = [&](const auto& is_found) {
    AccessSet walked, absent = scope.absent;
    for (const int id : found) {
      if (is_found(scope.cursors.at(id))) continue;
      walked.insert(id);
      absent.insert(id);
    }
    return !walked.empty() && vanishes(loop.body, absent) ? walked : AccessSet();
  };
  const auto by_arithmetic = [&](const Cursor& cursor) {
    return kernel.level_code(cursor).finds_by_arithmetic();
  };
  // Searches an ordered first level too, because a walk over it would start at its beginning in
  // each of many short rows.
  const auto by_searching = [&](const Cursor& cursor) {
    return by_arithmetic(cursor) || (cursor.level == 0 && !scope.coordinates.empty() &&
                                     kernel.code(cursor.access->tensor).levels[0]->is_ordered());
  };
  if (const AccessSet walked = without(by_searching); !walked.empty()) return walked;
  const AccessSet walked = without(by_arithmetic);
  return walked.empty() ? found : walked;
}

LoopSite::LoopSite(LoopParts& lowering, const nest::Forall& at, const KernelScope& around)
    : parts(lowering),
      loop(at),
      scope(around),
      walked(walked_accesses(lowering.kernel, at, around)) {}

bool LoopSite::visits_all() const {
  if (parts.assembly.levels().must_visit_all(loop, scope)) return true;
  AccessSet absent = scope.absent;
  absent.insert(walked.begin(), walked.end());
  return !vanishes(loop.body, absent);
}

bool LoopSite::finds_all_below(const AccessSet& entered) const {
  const KernelContext& kernel = parts.kernel;
  for (const nest::Assign* assign : nest::assigns(loop.body)) {
    if (assign->tensor != kernel.result && !kernel.code(assign->tensor).has_blocks()) return false;
  }
  for (const expr::Access* access : live_accesses(loop.body, scope.absent)) {
    if (scope.here.contains(access->id)) return false;
    const Cursor& cursor = scope.cursors.at(access->id);
    const auto& levels = kernel.code(access->tensor).levels;
    const int below = cursor.level + (entered.contains(access->id) ? 1 : 0);
    for (size_t l = static_cast<size_t>(below); l < levels.size(); ++l) {
      if (!levels[l]->is_full()) return false;
    }
  }
  return true;
}

bool LoopSite::only_counts_visits() const {
  const KernelContext& kernel = parts.kernel;
  const ResultLevels& result = parts.assembly.levels();
  if (scope.storing.producing || !result.counts_alone()) return false;
  KernelScope bound = scope;
  bound.coordinates[loop.var] = loop::Var::make(loop.var);
  if (!result.completes_entry(scope, bound)) return false;
  // The last block may be cut off at the end of the dimension, so a coordinate in it may not exist.
  using Origin = nest::Variable::Origin;
  const bool blocks = variable().origin == Origin::Outer &&
                      kernel.nest.variable(variable().parent).origin == Origin::Source;
  if (variable().origin != Origin::Source && !blocks) return false;
  // With a fixed place inside the block, whether the last block has it must be tested for each.
  if (blocks && kernel.coordinates.coordinate(variable().parent, bound.coordinates)) return false;
  const loop::Expr runs = kernel.coordinates.runs(loop.body);
  const auto* certain = runs.as<IntConst>();
  if (!certain || certain->value == 0) return false;
  return finds_all_below(walked);
}

}  // namespace tulle::lower
