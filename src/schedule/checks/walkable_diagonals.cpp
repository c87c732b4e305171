// Checks that the loops around a loop over diagonals select them.
#include "schedule/checks/walkable_diagonals.h"

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

Result<> check_diagonals(const Nest& nest, const Forall& loop, const NameList& around,
                         const expr::Access& access) {
  const Variable& variable = nest.variable(loop.var);
  const auto index = [&](int dimension) -> const std::string& {
    return access.indices[static_cast<size_t>(dimension)];
  };
  NameList above;
  for (const Level& level : nest.tensor(access.tensor).type.format.levels()) {
    if (!level.expr.is_difference()) {
      above.push_back(index(level.expr.dimension));
      continue;
    }
    if (index(level.expr.dimension) != variable.parent ||
        index(level.expr.second) != variable.second)
      return {};
    for (const std::string& outer : above) {
      if (nest.determines(around, outer)) continue;
      return refusal("The loop over '", loop.var, "' goes through the diagonals that '",
                     access.tensor, "' stores for one '", outer,
                     "', but is outside the loop over it; move it inside.");
    }
    return {};
  }
  return {};
}

}  // namespace

Result<> require_walkable_diagonals(const Nest& nest) {
  if (!has_variable(nest, [](const Variable& variable) {
        return variable.origin == Variable::Origin::Difference;
      }))
    return {};
  return check_each_loop_within(
      nest.root, [&](const Forall& loop, const NameList& around) -> Result<> {
        if (nest.variable(loop.var).origin != Variable::Origin::Difference) return {};
        for (const Assign* assign : assigns(loop.body)) {
          for (const expr::Access* access : expr::accesses(assign->value))
            TULLE_TRY(check_diagonals(nest, loop, around, *access));
        }
        return {};
      });
}

}  // namespace tulle::schedule
