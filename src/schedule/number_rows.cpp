// Number_rows: forall i -> forall r, where coordinate i is stored at position r.
#include "schedule/number_rows.h"

#include "schedule/queries.h"
#include "schedule/split_positions.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

// Rows that are not stored are left at 0.
void require_sums(const Nest& nest, const Forall& loop) {
  for (const Assign* assign : lasting_assigns(loop.body)) {
    if (!nest.tensor(assign->tensor).type.format.is_dense()) continue;
    if (!assign->accumulate || assign->accumulate == nest::Monoid::Sum) continue;
    user_error("'", assign->tensor, "' is no sum, so that rows along '", loop.var,
               "' that are not stored are not 0; leave number_rows out.");
  }
}

}  // namespace

Nest number_rows(const Nest& nest, const std::string& var, const std::string& row) {
  require_loop(nest, var);
  require_untagged(nest, var, "number_rows");
  require_coordinates(nest, var, "number_rows");
  require_free_name(nest, row);
  require_known_structure(nest, "number_rows");
  Nest result = nest;
  result.root = rebuild(nest.root, [&](const Stmt& stmt) {
    const auto* loop = stmt.as<Forall>();
    if (!loop || loop->var != var) return stmt;
    const expr::Access& access = walked_access(nest, *loop);
    const auto& levels = nest.tensor(access.tensor).type.format.levels();
    if (level_over(nest, access, var) != 0 || !stores_positions(levels[0].kind) ||
        levels[0].multiple > 1) {
      user_error("'", access.tensor, "' does not store '", var,
                 "' first, one coordinate after the other; use split_positions.");
    }
    require_needed(*loop, access);
    require_sums(nest, *loop);
    require_same_indices(nest, access, "number_rows");
    const Variable& numbers =
        result.variables
            .try_emplace(row, Variable{Variable::Origin::Stored, var, {}, 1, access.tensor})
            .first->second;
    if (numbers.tensor != access.tensor) {
      user_error("Loops over '", var, "' walk over '", numbers.tensor, "' and '", access.tensor,
                 "', each of which numbers rows of its own; leave number_rows out.");
    }
    return Forall::make(row, loop->body);
  });
  return result;
}

}  // namespace tulle::schedule
