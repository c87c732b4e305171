// Visits the rows of a chunk. Chunk c has the work from c * length to (c + 1) * length; work_before
// numbers the work. A row with at most `length` entries belongs to the chunk in which it begins.
#include "lower/loops/rows_of_chunk.h"

#include "lower/levels/search.h"
#include "lower/loops/stored_rows.h"
#include "lower/result/assignments.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;
using loop::Select;

bool RowsOfChunk::applies(const LoopSite& site) const {
  return site.variable().origin == nest::Variable::Origin::ChunkRow;
}

void RowsOfChunk::lower(const LoopSite& site, Emitter& out) const {
  KernelContext& kernel = site.parts.kernel;
  const nest::Variable& variable = site.variable();
  const Expr chunk = chunk_around(kernel, variable, site.scope);
  const LevelCode& entries = *kernel.code(variable.tensor).levels[1];
  const loop::Buffer positions = entries.positions_buffer();
  const Expr rows = kernel.coordinates.extent(variable.parent);
  const Expr length = out.let("length", kernel.coordinates.chunk_length(variable));
  const Expr begin = out.let("work_begin", chunk * length);
  const Expr end = out.let("work_end", begin + length);
  const auto work_of = [&](const Expr& row) { return work_before(positions, row); };
  const Expr first = out.snapshot("first", emit_first_by_eighths(out, rows, work_of, begin));
  // The previous row may reach into the chunk.
  const Expr next = out.declare("row", loop::maximum(first - 1, IntConst::make(0)));

  Emitter body = out.nested(), mine = out.nested();
  const Expr row = body.snapshot(variable.parent, next);
  const Expr from = body.let("p", position_of(positions, row));
  const Expr to = body.let("p_end", position_of(positions, row + 1));
  const Expr is_long = body.let("is_long", length < to - from);
  const Expr here = mutant("row-pieces-overlap") ? begin - row - 1 : begin - row;
  const Positions piece = {
      mine.let("p", Select::make(is_long, loop::maximum(from, here), from)),
      mine.let("p_end", Select::make(is_long, loop::minimum(to, end - row), to))};
  KernelScope inner = site.scope;
  inner.entries.of_chunk[variable.tensor] = entries.used(mine, piece);
  inner.row.is_shared = is_long;
  inner.row.chunk = chunk;
  inner.row.begins_here = first <= row;
  if (adds_up_rows(kernel)) {
    kernel.facts.shared_rows = {positions, kernel.coordinates.chunk_length(variable), {}, {}, {}};
  }
  site.parts.entering.enter({site.loop, row}, inner, mine);
  body.add(loop::If::make(Binary::make(BinaryOp::Or, is_long, first <= row), mine.take()));
  body.assign(next, next + 1);
  out.add(loop::While::make(loop::both(next < rows, work_of(next) < end), body.take()));
}

}  // namespace tulle::lower
