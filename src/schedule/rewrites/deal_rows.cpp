// Deal_rows: forall i -> forall chunk { forall row }, by pieces of rows.
#include "schedule/rewrites/deal_rows.h"

#include "nest/row_pieces.h"
#include "schedule/queries.h"
#include "schedule/rewrites/row_chunks.h"
#include "support/check.h"

namespace tulle::schedule {

Result<Nest> deal_rows(const Nest& nest, const DealRows& step) {
  const Forall* rows = nest::find_loop(nest.root, step.loop);
  if (rows && nest::tuple_of_row(nest, *rows)) {
    return refusal("Rows of '", step.loop,
                   "' gather several values that go together, whose pieces are not merged when ",
                   "they are dealt; use split_rows.");
  }
  Variable kind;
  kind.parent = step.loop;
  kind.factor = step.length;
  kind.parts = step.parts * step.turns;
  kind.dealt = step.turns;
  return split_into_chunks(nest, "deal_rows", kind, step.chunk, step.row);
}

}  // namespace tulle::schedule
