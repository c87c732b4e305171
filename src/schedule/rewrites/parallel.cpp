// Parallel: the tag of an outermost loop whose iterations write different locations.
#include "schedule/rewrites/parallel.h"

#include "schedule/checks/merged_rows.h"
#include "schedule/queries.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::schedule {

namespace {

Result<> check_writes(const Nest& nest, const Forall& loop) {
  for (const Assign* assign : lasting_assigns(loop.body)) {
    if (covers(assign->indices, nest, loop.var)) continue;
    return refusal("'", loop.var, "' is summed into '", assign->tensor,
                   "': its iterations would write the same location at ",
                   "once. Make a loop over an index of '", assign->tensor,
                   "' outermost with reorder and run that in parallel.");
  }
  return {};
}

// Whether the operand's first level is over the variable and the next one stores the entries of
// each of its coordinates.
bool has_entries_below(const Nest& nest, const expr::Access& access, const std::string& var) {
  const Tensor& tensor = nest.tensor(access.tensor);
  const std::vector<Level>& levels = tensor.type.format.levels();
  if (tensor.role != Tensor::Role::Operand || levels.size() < 2) return false;
  const Variable& variable = nest.variable(var);
  const std::string& row = variable.origin == Variable::Origin::Outer ? variable.parent : var;
  return access.indices[static_cast<size_t>(levels[0].expr.dimension)] == row &&
         stores_positions(levels[1].kind);
}

bool has_entries_below(const Nest& nest, const Forall& loop) {
  for (const Assign* assign : assigns(loop.body)) {
    for (const expr::Access* access : expr::accesses(assign->value)) {
      if (has_entries_below(nest, *access, loop.var)) return true;
    }
  }
  return false;
}

}  // namespace

Result<Nest> parallel(const Nest& nest, const Parallel& step) {
  const std::string& var = step.loop;
  const LoopTag::Balance balance = step.balance.value_or(LoopTag::Balance::Rows);
  TULLE_TRY(require_loop(nest, var));
  TULLE_TRY(require_untagged(nest, var, "parallel"));
  const auto is_outermost = [&](const Stmt& stmt) {
    const auto* loop = stmt.as<Forall>();
    return loop && loop->var == var;
  };
  const auto* sequence = nest.root.as<Sequence>();
  bool found = false;
  for (const Stmt& stmt : sequence ? sequence->stmts : std::vector<Stmt>{nest.root}) {
    if (!is_outermost(stmt)) continue;
    found = true;
    if (!mutant("parallel-over-reduction")) TULLE_TRY(check_writes(nest, *stmt.as<Forall>()));
  }
  if (!found) {
    return refusal("Only an outermost loop can be parallel, and the one over '", var,
                   "' is not; move it outside with reorder first.");
  }
  bool has_entries = false;
  const auto tagged = [&](const Stmt& stmt) {
    if (!is_outermost(stmt)) return stmt;
    const Forall& loop = *stmt.as<Forall>();
    LoopTag tag{.kind = LoopTag::Kind::Parallel};
    if (balance == LoopTag::Balance::Nnz && has_entries_below(nest, loop)) tag.balance = balance;
    if (balance == LoopTag::Balance::Merge) tag.balance = balance;
    has_entries |= tag.balance == LoopTag::Balance::Nnz;
    return Forall::make(var, loop.body, tag);
  };
  Nest result = nest;
  result.root = sequence ? map_parts(nest.root, tagged) : tagged(nest.root);
  if (balance == LoopTag::Balance::Merge) {
    if (!result.root.as<Forall>()) {
      return refusal("One loop around all statements must cut rows, and here are several; ",
                     "use parallel(", var, ", by=nnz).");
    }
    TULLE_TRY(require_mergeable_rows(result));
  }
  if (balance == LoopTag::Balance::Nnz && !has_entries) {
    return refusal("No operand has a compressed level right below '", var,
                   "' to count entries in; use parallel(", var, ", by=rows).");
  }
  return result;
}

}  // namespace tulle::schedule
