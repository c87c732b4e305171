// Number_rows: forall i -> forall r, where coordinate i is stored at position r.
#include "schedule/rewrites/number_rows.h"

#include "schedule/queries.h"
#include "schedule/rewrites/split_positions.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

// Rows that are not stored keep their initial value. Requires the neutral element of the
// accumulation.
Result<> require_same_start(const Nest& nest, const Forall& loop) {
  for (const Assign* assign : lasting_assigns(loop.body)) {
    const Tensor& tensor = nest.tensor(assign->tensor);
    if (!tensor.type.format.is_dense()) continue;
    const nest::Monoid by = assign->accumulate.value_or(nest::Monoid::Sum);
    if (tensor.onto.empty() || tensor.onto_by == by) continue;
    return refusal("'", assign->tensor, "' is combined by ", nest::text_of(tensor.onto_by),
                   ", and rows along '", loop.var, "' that are not stored have the identity of ",
                   nest::text_of(by), "; leave number_rows out.");
  }
  return {};
}

// The operand whose stored rows the loop walks over. Refuses if they cannot be numbered.
Result<const expr::Access*> numbered_operand(const Nest& nest, const Forall& loop) {
  const Result<const expr::Access*> walked = walked_access(nest, loop);
  if (!walked) return walked;
  const expr::Access& access = **walked;
  const auto& levels = nest.tensor(access.tensor).type.format.levels();
  if (level_over(nest, access, loop.var) != 0 || !stores_positions(levels[0].kind) ||
      levels[0].multiple > 1) {
    return refusal("'", access.tensor, "' does not store '", loop.var,
                   "' first, one coordinate after the other; use split_positions.");
  }
  TULLE_TRY(require_needed(loop, access));
  TULLE_TRY(require_same_start(nest, loop));
  TULLE_TRY(require_same_indices(nest, access, "number_rows"));
  return walked;
}

}  // namespace

Result<Nest> number_rows(const Nest& nest, const NumberRows& step) {
  const std::string& var = step.loop;
  TULLE_TRY(require_loop(nest, var));
  TULLE_TRY(require_untagged(nest, var, "number_rows"));
  TULLE_TRY(require_coordinates(nest, var, "number_rows"));
  TULLE_TRY(require_free_name(nest, step.row));
  TULLE_TRY(require_known_structure(nest, "number_rows"));
  std::string operand;
  TULLE_TRY(check_each_loop(nest.root, [&](const Forall& loop) -> Result<> {
    if (loop.var != var) return {};
    const Result<const expr::Access*> access = numbered_operand(nest, loop);
    if (!access) return access.error();
    if (operand.empty()) operand = (*access)->tensor;
    if ((*access)->tensor == operand) return {};
    return refusal("Loops over '", var, "' walk over '", operand, "' and '", (*access)->tensor,
                   "', which number their rows differently; leave number_rows out.");
  }));
  Nest result = nest;
  result.variables[step.row] = {Variable::Origin::Stored, var, {}, 1, operand};
  result.root = rebuild(nest.root, [&](const Stmt& stmt) {
    const auto* loop = stmt.as<Forall>();
    return loop && loop->var == var ? Forall::make(step.row, loop->body) : stmt;
  });
  return result;
}

}  // namespace tulle::schedule
