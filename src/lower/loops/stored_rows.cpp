// Rows in chunks.
#include "lower/loops/stored_rows.h"

#include <algorithm>

#include "lower/storage.h"
#include "support/check.h"

namespace tulle::lower {

using loop::Expr;

Expr position_of(const loop::Buffer& positions, const Expr& row) {
  return loop::Cast::make(DType::Int64, loop::Load::make(positions, row));
}

Expr work_before(const loop::Buffer& positions, const Expr& row) {
  return position_of(positions, row) + row;
}

StoredRows stored_rows(const KernelContext& kernel, const nest::Variable& variable) {
  return {variable.tensor, kernel.code(variable.tensor).levels[1]->positions_buffer(),
          kernel.coordinates.extent(variable.parent), loop::Var::make(count_name(variable.tensor))};
}

Expr chunk_around(const KernelContext& kernel, const nest::Variable& variable,
                  const KernelScope& scope) {
  for (const auto& [name, other] : kernel.nest.variables) {
    const bool chunks = other.origin == nest::Variable::Origin::Chunk ||
                        other.origin == nest::Variable::Origin::EntryChunk;
    if (!chunks || other.parent != variable.parent || other.second != variable.second) continue;
    if (const Expr chunk = kernel.coordinates.coordinate(name, scope.coordinates)) return chunk;
  }
  internal_error("no loop over chunks around that over the rows or entries of ", variable.tensor);
}

void derive(KernelFacts& facts, Derived derived) {
  // A loop may be lowered in several branches.
  const bool known =
      std::any_of(facts.derived.begin(), facts.derived.end(), [&](const Derived& other) {
        return other.what == derived.what && other.tensor == derived.tensor;
      });
  if (!known) facts.derived.push_back(std::move(derived));
}

}  // namespace tulle::lower
