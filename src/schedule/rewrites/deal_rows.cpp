// Deal_rows: forall i -> forall chunk { forall row }, by pieces of rows.
#include "schedule/rewrites/deal_rows.h"

#include "nest/row_pieces.h"
#include "schedule/queries.h"
#include "schedule/rewrites/row_chunks.h"
#include "support/check.h"

namespace tulle::schedule {

Nest deal_rows(const Nest& nest, const std::string& var, int64_t length, const std::string& chunk,
               const std::string& row, int64_t parts, int64_t turns) {
  const Forall* rows = nest::find_loop(nest.root, var);
  if (rows && nest::tuple_of_row(nest, *rows)) {
    user_error("Rows of '", var, "' gather several values that go together, whose pieces are not ",
               "merged when they are dealt; use split_rows.");
  }
  Variable kind;
  kind.parent = var;
  kind.factor = length;
  kind.parts = parts * turns;
  kind.dealt = turns;
  return split_into_chunks(nest, "deal_rows", kind, chunk, row);
}

}  // namespace tulle::schedule
