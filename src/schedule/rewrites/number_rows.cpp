// Number_rows: forall i -> forall r, where coordinate i is stored at position r.
#include "schedule/rewrites/number_rows.h"

#include "schedule/queries.h"
#include "schedule/rewrites/split_positions.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

// Rows that are not stored are left as they start: at what nothing accumulates to.
void require_same_start(const Nest& nest, const Forall& loop) {
  for (const Assign* assign : lasting_assigns(loop.body)) {
    const Tensor& tensor = nest.tensor(assign->tensor);
    if (!tensor.type.format.is_dense()) continue;
    const nest::Monoid by = assign->accumulate.value_or(nest::Monoid::Sum);
    if (tensor.onto.empty() || tensor.onto_by == by) continue;
    user_error("'", assign->tensor, "' is put together by ", nest::text_of(tensor.onto_by),
               ", and rows along '", loop.var, "' that are not stored come to nothing by ",
               nest::text_of(by), "; leave number_rows out.");
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
    require_same_start(nest, *loop);
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
