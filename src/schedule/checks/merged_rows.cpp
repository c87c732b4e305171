// Checks nests for chunks that may begin inside a row.
#include "schedule/checks/merged_rows.h"

#include <algorithm>

#include "expr/absence.h"
#include "nest/merged_rows.h"
#include "nest/number_accesses.h"
#include "nest/staging.h"
#include "schedule/queries.h"
#include "schedule/rewrites/split_positions.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

constexpr std::string_view kWayOut = "use parallel(by=nnz)";

// The Where whose workspaces the assignment reads, if it is nested in the statement.
const Where* find_gathering(const Nest& nest, const Stmt& stmt, const Assign& assign) {
  const auto* where = stmt.as<Where>();
  if (where && !nest::is_staging(*where, nest) && nest::find_assign(where->consumer, assign))
    return where;
  for (const Stmt& part : parts_of(stmt)) {
    if (const Where* found = find_gathering(nest, part, assign)) return found;
  }
  return nullptr;
}

// Explains why the sum cannot be cut: no workspace gathers it, or the workspace is one loop too
// deep.
Refusal refused_sum(const Nest& nest, const Stmt& body, const Forall& entries,
                    const Assign& assign) {
  const Where* where = find_gathering(nest, body, assign);
  if (!where) {
    return refusal(
        "'", assign.tensor, "' is added up along '", entries.var,
        "', which several pieces of a row would do at the same time; gather it first, with ",
        "precompute(acc) or precompute(acc, k) before this step.");
  }
  const auto* around = body.as<Forall>();
  if (!around) {
    return refusal("'", list_of(where->workspaces),
                   "' is not the whole body of the loop over rows, ",
                   "and pieces of a row can only fill workspaces; use parallel(by=nnz).");
  }
  return refusal("'", list_of(where->workspaces), "' is filled again in each iteration over '",
                 around->var, "', and a piece of a row fills workspaces once; move '", around->var,
                 "' inside the loop over '", entries.var,
                 "' (reorder) and gather along it too (precompute), or use parallel(by=nnz).");
}

// Whether the result appends entries in order. Chunks that have counted their entries can then
// append them separately, even if they begin inside a row.
bool is_appended_to(const Nest& nest, const Assign& assign, const Forall& rows,
                    const Forall& entries) {
  const std::vector<Level>& levels = nest.tensor(assign.tensor).type.format.levels();
  const auto is_for = [&](const Level& level, const std::string& var) {
    return level.expr.is_whole() &&
           assign.indices[static_cast<size_t>(level.expr.dimension)] == var;
  };
  if (assign.accumulate || levels.size() < 2) return false;
  // A list accepts entries with any coordinates.
  if (fills_slots(levels[0].kind) && !levels[0].unique && levels[0].multiple <= 1) {
    return std::all_of(levels.begin() + 1, levels.end(),
                       [](const Level& level) { return is_branchless(level.kind); });
  }
  return levels.size() == 2 && is_full(levels[0].kind) && is_for(levels[0], rows.var) &&
         stores_positions(levels[1].kind) && fills_slots(levels[1].kind) &&
         levels[1].multiple <= 1 && is_for(levels[1], entries.var);
}

// Each entry of the operand must have its own location in the result.
Result<> check_entries(const Nest& nest, const Forall& rows, const Forall& entries,
                       const std::string& operand) {
  for (const Assign* assign : lasting_assigns(rows.body)) {
    if (!covers(assign->indices, nest, entries.var))
      return refused_sum(nest, nest::without_staging(rows.body, nest), entries, *assign);
    const Tensor& tensor = nest.tensor(assign->tensor);
    if (tensor.type.format.is_dense() || nest::has_structure_of(nest, tensor, operand) ||
        is_appended_to(nest, *assign, rows, entries))
      continue;
    return refusal("'", assign->tensor, "' is built entry by entry, and needs its rows whole; use ",
                   "parallel(by=nnz).");
  }
  return require_in_pieces(nest, entries, rows.body, {}, operand, kWayOut);
}

// A row fills workspaces. A second kernel merges those of its pieces before it stores the row.
Result<> check_workspaces(const Nest& nest, const Where& where, const Forall& entries,
                          const std::string& operand) {
  TULLE_TRY(require_in_pieces(nest, entries, where.producer, where.workspaces, operand, kWayOut));
  for (const std::string& name : where.workspaces) {
    const nest::Accumulate accumulate = nest::accumulation_of(where.producer, name);
    if (accumulate && !nest.tensor(name).is_tracked() &&
        !(nest::starts_absent(accumulate) && shows_absence(nest, name)))
      continue;
    return refusal(
        "'", name, "' is not accumulated, or used in an expression where a sum of nothing ",
        "differs from 0, and a piece of a row may be empty although the row is not; use ",
        "parallel(by=nnz).");
  }
  for (const Assign* assign : assigns(where.producer)) {
    if (nest.leads(assign->tensor) && !assign->indices.empty()) {
      return refusal("'", assign->tensor, "' has elements for '", list_of(assign->indices),
                     "' and scales other workspaces, and pieces of tuples are scaled by one "
                     "element only; use parallel(by=nnz).");
    }
  }
  for (const Assign* assign : lasting_assigns(where.consumer)) {
    if (nest.tensor(assign->tensor).type.format.is_dense() && !assign->accumulate &&
        !nest::reads(assign->value, operand))
      continue;
    return refusal("'", assign->tensor,
                   "' is not dense and stored once for each row, or is stored ",
                   "with entries of '", operand, "'; use parallel(by=nnz).");
  }
  return {};
}

// The loop must walk over the entries of the operand. It may also walk over the entries of other
// operands if the result appends them in order.
Result<> require_walked(const Nest& nest, const Forall& rows, const Forall& entries,
                        const expr::Access& operand) {
  const std::vector<const Assign*> lasting = lasting_assigns(rows.body);
  const bool appends = std::all_of(lasting.begin(), lasting.end(), [&](const Assign* assign) {
    return is_appended_to(nest, *assign, rows, entries);
  });
  const std::vector<const expr::Access*> walked = walked_accesses(nest, entries);
  for (const expr::Access* other : walked) {
    TULLE_TRY(require_same_indices(nest, *other, "by=merge"));
    if (other->tensor == operand.tensor || (appends && nest::goes_along(nest, *other, operand)))
      continue;
    return refusal("The loop over '", entries.var, "' walks over '", other->tensor,
                   "', not only over the rows of '", operand.tensor, "'; use parallel(by=nnz).");
  }
  if (walked.size() == 1) return require_needed(entries, operand);
  for (const Assign* assign : lasting) {
    const expr::Expr rest = expr::without(assign->value, [&](const expr::Access& access) {
      return std::any_of(walked.begin(), walked.end(),
                         [&](const expr::Access* one) { return one->id == access.id; });
    });
    if (expr::is_absent(rest)) continue;
    return refusal("'", assign->tensor, "' has terms where no operand has an entry, so that ",
                   "the loop over '", entries.var,
                   "' visits more than entries; use parallel(by=nnz).");
  }
  return {};
}

}  // namespace

Result<> require_mergeable_rows(const Nest& nest) {
  const Forall* rows = nest::loop_over_merged_rows(nest);
  if (!rows) return {};
  const expr::Access* operand = nest::merged_operand(nest, *rows);
  if (!operand) {
    return refusal("No operand stores rows of entries along '", rows->var,
                   "' with a loop over their entries inside; use parallel(", rows->var,
                   ", by=rows).");
  }
  const Forall& entries = *nest::find_loop(rows->body, nest::entries_index(nest, *operand));
  TULLE_TRY(require_walked(nest, *rows, entries, *operand));
  for (Stmt body = rows->body; body.as<Where>() && nest::is_staging(*body.as<Where>(), nest);
       body = body.as<Where>()->consumer)
    TULLE_TRY(
        require_in_pieces(nest, entries, body.as<Where>()->producer, {}, operand->tensor, kWayOut));
  const Stmt body = nest::without_staging(rows->body, nest);
  const bool is_list = nest::lists_entries(nest.tensor(operand->tensor).type.format);
  if (const auto* where = body.as<Where>(); where && is_list) {
    return refusal("'", list_of(where->workspaces), "' gathers the rows of '", operand->tensor,
                   "', which does not store where they begin; use parallel(", rows->var,
                   ", by=rows).");
  } else if (where) {
    return check_workspaces(nest, *where, entries, operand->tensor);
  }
  return check_entries(nest, *rows, entries, operand->tensor);
}

}  // namespace tulle::schedule
