// Chunks of exactly equal work: rows and entries are one sequence, in which each row's entries
// stand before the row's end, and a chunk has the same number of them as any other, wherever in a
// row that is. Entry p of row i is number p + i, the end of row i number pos[i + 1] + i.
#include "lower/kernel_lowering.h"
#include "lower/search.h"
#include "nest/merged_rows.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Cast;
using loop::Expr;
using loop::IntConst;
using loop::Load;

namespace {

Expr position(const loop::Buffer& positions, const Expr& row) {
  return Cast::make(DType::Int64, Load::make(positions, row));
}

// The first row whose entries begin at that number or after it.
Expr first_row_from(const loop::Buffer& positions, const Expr& rows, const Expr& number,
                    Emitter& out) {
  return emit_first_by_halves(
      out, rows, [&](const Expr& row) { return position(positions, row) + row; }, number);
}

}  // namespace

void KernelLowering::rows_by_work(const nest::Forall& loop, const Scope& scope, Emitter& out) {
  can_be_cut_ = visits_extent_ = true;
  const expr::Access* operand = nest::merged_operand(nest_, loop);
  TULLE_CHECK(operand && frame_->kind() != Frame::Kind::Bound, "rows along ", loop.var, " to cut");
  const loop::Buffer positions = code(operand->tensor).levels[1]->positions_buffer();
  const Expr rows = coordinates_.extent(loop.var);
  const Work work = work_of_rows(operand->tensor, positions, rows, out);
  if (phase_ == Phase::Merge) return unfinished_row(loop, positions, rows, work, scope, out);
  const Expr begin = out.let("work_begin", frame_->share(work, frame_->chunk()));
  const Expr end = out.let("work_end", frame_->share(work, frame_->chunk() + 1));
  // The chunk may begin inside the row before.
  const Expr first = out.snapshot(
      "first",
      loop::maximum(IntConst::make(0), first_row_from(positions, rows, begin + 1, out) - 1));
  const Expr last = out.snapshot("last", first_row_from(positions, rows, end, out));

  const std::string name = names_.fresh(loop.var);
  const Expr row = loop::Var::make(name);
  Emitter body = out.nested();
  const Expr from = body.let("p", position(positions, row));
  const Expr to = body.let("p_end", position(positions, row + 1));
  Scope inner = scope;
  const Expr here = mutant("work-begins-early") ? begin - row - 1 : begin - row;
  inner.chunk_entries[operand->tensor] = {body.let("p", loop::maximum(from, here)),
                                          body.let("p_end", loop::minimum(to, end - row))};
  inner.chunk = frame_->chunk();
  inner.begins_here = body.let("begins_here", begin <= from + row);
  inner.is_shared_row =
      body.let("is_shared", Binary::make(BinaryOp::Or, from + row < begin, end <= to + row));
  enter(loop, row, {}, {}, inner, body);
  out.add(loop::For::make(name, first, last, body.take()));
}

// Each chunk finishes the row that begins in it and goes on, if there is one: it merges its piece
// with those of the chunks after it up to the one in which the row ends.
void KernelLowering::unfinished_row(const nest::Forall& loop, const loop::Buffer& positions,
                                    const Expr& rows, const Work& work, const Scope& scope,
                                    Emitter& out) {
  const Expr begin = out.let("work_begin", frame_->share(work, frame_->chunk()));
  const Expr end = out.let("work_end", frame_->share(work, frame_->chunk() + 1));
  Emitter some = out.nested(), mine = out.nested();
  const Expr row = some.snapshot(loop.var, first_row_from(positions, rows, end, some) - 1);
  const Expr from = some.let("p", position(positions, row));
  const Expr to = some.let("p_end", position(positions, row + 1));
  Scope inner = scope;
  inner.chunk = frame_->chunk();
  const Expr last = frame_->last_chunk_from(work, to + row);
  inner.last_chunk = mine.let("last_chunk", mutant("work-of-last-chunk-lost") ? last - 1 : last);
  enter(loop, row, {}, {}, inner, mine);
  some.add(loop::If::make(loop::both(begin <= from + row, end <= to + row), mine.take()));
  out.add(loop::If::make(begin < end, some.take()));
}

}  // namespace tulle::lower
