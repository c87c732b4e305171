// Cuts the merged sequence of rows and entries.
#include "lower/loops/merged_rows.h"

#include "lower/levels/search.h"
#include "lower/loops/stored_rows.h"
#include "nest/merged_rows.h"
#include "support/check.h"

namespace tulle::lower {

using loop::Expr;

const expr::Access* operand_cut_by_work(const LoopSite& site) {
  const nest::Nest& nest = site.parts.kernel.nest;
  if (&site.loop != nest::loop_over_merged_rows(nest)) return nullptr;
  const expr::Access* operand = nest::merged_operand(nest, site.loop);
  TULLE_CHECK(operand && site.parts.frame.kind() != KernelFrame::Kind::Bound, "rows along ",
              site.loop.var, " to cut");
  return operand;
}

RowsInChunk rows_in_chunk(const LoopSite& site, Emitter& out) {
  KernelContext& kernel = site.parts.kernel;
  KernelFrame& frame = site.parts.frame;
  kernel.facts.can_be_cut = kernel.facts.visits_extent = true;
  RowsInChunk chunk;
  chunk.operand = operand_cut_by_work(site);
  const std::string& tensor = chunk.operand->tensor;
  chunk.positions = kernel.code(tensor).levels[1]->positions_buffer();
  chunk.rows = kernel.coordinates.extent(site.loop.var);
  chunk.work = site.parts.chunks.work_of_rows(tensor, chunk.positions, chunk.rows, out);
  chunk.begin = out.let("work_begin", frame.share(chunk.work, frame.chunk()));
  chunk.end = out.let("work_end", frame.share(chunk.work, frame.chunk() + 1));
  return chunk;
}

Expr first_row_from(const RowsInChunk& chunk, const Expr& number, Emitter& out) {
  return emit_first_by_halves(
      out, chunk.rows, [&](const Expr& row) { return work_before(chunk.positions, row); }, number);
}

}  // namespace tulle::lower
