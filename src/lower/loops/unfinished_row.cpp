// Each chunk finishes the row that begins in it and ends in a later chunk, if there is one. It
// merges its piece with the pieces of the chunks up to the one in which the row ends.
#include "lower/loops/unfinished_row.h"

#include "lower/loops/merged_rows.h"
#include "lower/loops/stored_rows.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;

bool UnfinishedRow::applies(const LoopSite& site) const {
  return site.parts.kernel.phase == Phase::Merge && operand_cut_by_work(site);
}

void UnfinishedRow::lower(const LoopSite& site, Emitter& out) const {
  KernelFrame& frame = site.parts.frame;
  const RowsInChunk chunk = rows_in_chunk(site, out);
  Emitter some = out.nested(), mine = out.nested();
  const Expr row = some.snapshot(site.loop.var, first_row_from(chunk, chunk.end, some) - 1);
  const Expr from = some.let("p", position_of(chunk.positions, row));
  const Expr to = some.let("p_end", position_of(chunk.positions, row + 1));
  KernelScope inner = site.scope;
  inner.row.chunk = frame.chunk();
  const Expr last = frame.last_chunk_from(chunk.work, to + row);
  inner.row.last_chunk =
      mine.let("last_chunk", mutant("work-of-last-chunk-lost") ? last - 1 : last);
  site.parts.entering.enter({site.loop, row}, inner, mine);
  some.add(
      loop::If::make(loop::both(chunk.begin <= from + row, chunk.end <= to + row), mine.take()));
  out.add(loop::If::make(chunk.begin < chunk.end, some.take()));
}

}  // namespace tulle::lower
