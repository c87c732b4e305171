// Split_rows: forall i -> forall chunk { forall row }.
#include "schedule/rewrites/split_rows.h"

#include "schedule/rewrites/row_chunks.h"

namespace tulle::schedule {

Result<nest::Nest> split_rows(const nest::Nest& nest, const SplitRows& step) {
  nest::Variable kind;
  kind.parent = step.loop;
  kind.factor = step.length;
  kind.parts = step.parts.value_or(0);
  return split_into_chunks(nest, "split_rows", kind, step.chunk, step.row);
}

}  // namespace tulle::schedule
