// Split_entries: forall i { forall j } -> forall chunk { forall entry }.
#include "schedule/rewrites/split_entries.h"

#include <cstdint>

#include "nest/merged_rows.h"
#include "nest/number_accesses.h"
#include "schedule/queries.h"
#include "schedule/rewrites/split_positions.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

// The access to a list of entries with both coordinates (COO) that the two loops walk over. Null if
// they walk over another format.
const expr::Access* listed_entries(const Nest& nest, const Forall& rows, const Forall& entries) {
  const std::vector<const expr::Access*> walked = walked_accesses(nest, entries);
  if (walked.size() != 1) return nullptr;
  const Format& format = nest.tensor(walked[0]->tensor).type.format;
  const auto index = [&](size_t level) {
    return walked[0]->indices[static_cast<size_t>(format.levels()[level].expr.dimension)];
  };
  return nest::lists_entries(format) && index(0) == rows.var && index(1) == entries.var ? walked[0]
                                                                                        : nullptr;
}

// The access to entries that the two loops walk over.
Result<const expr::Access*> walked_entries(const Nest& nest, const Forall& rows,
                                           const Forall& entries) {
  if (const expr::Access* listed = listed_entries(nest, rows, entries)) {
    TULLE_TRY(require_needed(entries, *listed));
    TULLE_TRY(require_same_indices(nest, *listed, "split_entries"));
    return listed;
  }
  const Result<const expr::Access*> walked = walked_rows(nest, entries);
  if (!walked) return walked;
  const expr::Access& access = **walked;
  TULLE_TRY(require_needed(entries, access));
  const auto& levels = nest.tensor(access.tensor).type.format.levels();
  const bool lies_row_by_row =
      levels.size() == 2 && is_full(levels[0].kind) && levels[0].expr.is_whole() &&
      levels[1].expr.is_whole() && levels[1].multiple <= 1 &&
      access.indices[static_cast<size_t>(levels[0].expr.dimension)] == rows.var;
  if (!lies_row_by_row) {
    return refusal("'", access.tensor, "' does not store rows of entries along '", rows.var,
                   "' as csr or coo does; use split_positions.");
  }
  TULLE_TRY(require_same_indices(nest, access, "split_entries"));
  return &access;
}

Result<> check_results(const Nest& nest, const Forall& entries, const std::string& operand) {
  // The workspace of an entry must be complete within its iteration.
  const std::vector<const Assign*> all = all_lasting_assigns(nest, entries.body);
  if (all.size() != 1) {
    return refusal(
        "Sums are used inside the statement, and a chunk only has some of their terms; put ",
        "split_entries before precompute, or leave it out.");
  }
  const Assign& assign = *all.front();
  const Tensor& result = nest.tensor(assign.tensor);
  if (!result.type.format.is_dense() && !nest::has_structure_of(nest, result, operand)) {
    return refusal("'", assign.tensor,
                   "' is built entry by entry and needs undivided loops; leave ",
                   "split_entries out.");
  }
  return {};
}

}  // namespace

Result<Nest> split_entries(const Nest& nest, const SplitEntries& step) {
  const auto& [row, entry, length, chunk, inner] = step;
  for (const std::string& var : {row, entry}) {
    TULLE_TRY(require_loop(nest, var));
    TULLE_TRY(require_untagged(nest, var, "split_entries"));
    TULLE_TRY(require_coordinates(nest, var, "split_entries"));
  }
  TULLE_TRY(require_free_name(nest, chunk));
  TULLE_TRY(require_free_name(nest, inner));
  const Forall& rows = *nest::find_loop(nest.root, row);
  const auto* entries = rows.body.as<Forall>();
  if (!entries || entries->var != entry) {
    return refusal("No loop over '", entry, "' is directly inside the one over '", row,
                   "'; bring them together with reorder(", row, ", ", entry, ") first.");
  }
  const Result<const expr::Access*> walked = walked_entries(nest, rows, *entries);
  if (!walked) return walked.error();
  const std::string& operand = (*walked)->tensor;
  TULLE_TRY(check_results(nest, *entries, operand));
  Nest result = nest;
  using Origin = Variable::Origin;
  result.variables[chunk] = {Origin::EntryChunk, row, entry, length, operand};
  result.variables[inner] = {Origin::Entry, row, entry, length, operand};
  result.root = replace(nest.root, &rows, Forall::make(chunk, Forall::make(inner, entries->body)));
  return result;
}

}  // namespace tulle::schedule
