// Parallel: the tag of an outermost loop whose iterations write different locations.
#include "schedule/rewrites/parallel.h"

#include "schedule/checks/merged_rows.h"
#include "schedule/queries.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::schedule {

namespace {

void check_writes(const Nest& nest, const Forall& loop) {
  for (const Assign* assign : lasting_assigns(loop.body)) {
    if (covers(assign->indices, nest, loop.var)) continue;
    user_error("'", loop.var, "' is summed into '", assign->tensor,
               "': its iterations would write the same location at ",
               "once. Make a loop over an index of '", assign->tensor,
               "' outermost with reorder and run that in parallel.");
  }
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

Nest parallel(const Nest& nest, const std::string& var, LoopTag::Balance balance) {
  require_loop(nest, var);
  require_untagged(nest, var, "parallel");
  bool found = false;
  bool has_entries = false;
  auto tagged = [&](const Stmt& stmt) {
    const auto* loop = stmt.as<Forall>();
    if (!loop || loop->var != var) return stmt;
    if (!mutant("parallel-over-reduction")) check_writes(nest, *loop);
    LoopTag tag{.kind = LoopTag::Kind::Parallel};
    if (balance == LoopTag::Balance::Nnz && has_entries_below(nest, *loop)) tag.balance = balance;
    if (balance == LoopTag::Balance::Merge) tag.balance = balance;
    has_entries |= tag.balance == LoopTag::Balance::Nnz;
    found = true;
    return Forall::make(var, loop->body, tag);
  };

  Nest result = nest;
  if (const auto* sequence = nest.root.as<Sequence>()) {
    std::vector<Stmt> stmts;
    stmts.reserve(sequence->stmts.size());
    for (const Stmt& part : sequence->stmts) stmts.push_back(tagged(part));
    result.root = Sequence::make(std::move(stmts));
  } else {
    result.root = tagged(nest.root);
  }
  if (!found) {
    user_error("Only an outermost loop can be parallel, and the one over '", var,
               "' is not; bring it out with reorder first.");
  }
  if (balance == LoopTag::Balance::Merge) {
    if (!result.root.as<Forall>()) {
      user_error("Rows are cut by one loop that all stands in, and there are several here; use ",
                 "parallel(", var, ", by=nnz).");
    }
    require_mergeable_rows(result);
  }
  if (balance == LoopTag::Balance::Nnz && !has_entries) {
    user_error("No operand has a compressed level right below '", var,
               "' to count entries in; use parallel(", var, ", by=rows).");
  }
  return result;
}

}  // namespace tulle::schedule
