// Finds the workspaces that pieces of rows fill.
#include "nest/row_pieces.h"

#include <algorithm>

#include "nest/merged_rows.h"
#include "nest/staging.h"

namespace tulle::nest {

namespace {

// The `where` of the workspaces that a row fills.
const Where* filled_by_row(const Nest& nest, const Forall& rows) {
  return without_staging(rows.body, nest).as<Where>();
}

}  // namespace

const Forall* loop_over_pieces(const Nest& nest) {
  if (const Forall* rows = loop_over_merged_rows(nest)) return rows;
  for (const auto& [name, variable] : nest.variables) {
    if (variable.origin == Variable::Origin::ChunkRow) return find_loop(nest.root, name);
  }
  return nullptr;
}

const Where* tuple_of_row(const Nest& nest, const Forall& rows) {
  const Where* where = filled_by_row(nest, rows);
  return where && where->workspaces.size() > 1 ? where : nullptr;
}

const Where* merged_pieces(const Nest& nest) {
  const Forall* rows = loop_over_pieces(nest);
  if (!rows) return nullptr;
  if (loop_over_merged_rows(nest)) return filled_by_row(nest, *rows);
  // A single workspace is combined by atomics.
  const Where* tuple = tuple_of_row(nest, *rows);
  const auto starts_with_nothing = [&](const std::string& name) {
    return starts_absent(accumulation_of(tuple->producer, name));
  };
  return tuple && std::none_of(tuple->workspaces.begin(), tuple->workspaces.end(),
                               starts_with_nothing)
             ? tuple
             : nullptr;
}

}  // namespace tulle::nest
