// Finds the long row that begins in a chunk, and the chunks that have a part of it.
#include "lower/loops/shared_row_of_chunk.h"

#include "lower/levels/search.h"
#include "lower/loops/stored_rows.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

bool SharedRowOfChunk::applies(const LoopSite& site) const {
  return site.parts.kernel.phase == Phase::Merge &&
         site.variable().origin == nest::Variable::Origin::ChunkRow;
}

void SharedRowOfChunk::lower(const LoopSite& site, Emitter& out) const {
  KernelContext& kernel = site.parts.kernel;
  const nest::Variable& variable = site.variable();
  const Expr chunk = chunk_around(kernel, variable, site.scope);
  const loop::Buffer positions = kernel.code(variable.tensor).levels[1]->positions_buffer();
  const Expr rows = kernel.coordinates.extent(variable.parent);
  const Expr length = out.let("length", kernel.coordinates.chunk_length(variable));
  const Expr begin = out.let("work_begin", chunk * length);
  const Expr next = emit_first_by_eighths(
      out, rows, [&](const Expr& row) { return work_before(positions, row); }, begin + length);
  const Expr row = out.snapshot(variable.parent, loop::maximum(next - 1, IntConst::make(0)));
  const Expr from = out.let("p", position_of(positions, row));
  // The requested number of chunks exists even without rows, so `row` may be past the end.
  const Expr past = variable.parts > 0 ? loop::minimum(row + 1, rows) : row + 1;
  const Expr to = out.let("p_end", position_of(positions, past));
  Emitter mine = out.nested();
  KernelScope inner = site.scope;
  inner.row.chunk = chunk;
  const int64_t short_by = mutant("merged-rows-unfinished") ? 2 : 1;
  inner.row.last_chunk =
      mine.let("last_chunk", loop::Binary::make(loop::BinaryOp::Div, to + row - short_by, length));
  site.parts.entering.enter({site.loop, row}, inner, mine);
  out.add(loop::If::make(loop::both(begin <= from + row, length < to - from), mine.take()));
}

}  // namespace tulle::lower
