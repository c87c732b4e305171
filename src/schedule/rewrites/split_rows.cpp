// Split_rows: forall i -> forall chunk { forall row }.
#include "schedule/rewrites/split_rows.h"

#include "schedule/rewrites/row_chunks.h"

namespace tulle::schedule {

using nest::Nest;
using nest::Variable;

Nest split_rows(const Nest& nest, const std::string& var, int64_t length, const std::string& chunk,
                const std::string& row, std::optional<int64_t> parts) {
  Variable kind;
  kind.parent = var;
  kind.factor = length;
  kind.parts = parts.value_or(0);
  return split_into_chunks(nest, "split_rows", kind, chunk, row);
}

}  // namespace tulle::schedule
