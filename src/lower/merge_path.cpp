// Chunks of exactly equal work: rows and entries are one sequence, in which each row's entries
// stand before the row's end, and a chunk has the same number of them as any other, wherever in a
// row that is. Entry p of row i is number p + i, the end of row i number pos[i + 1] + i.
#include "lower/kernel_lowering.h"
#include "lower/search.h"
#include "lower/walker.h"
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

Expr is_not(const Expr& condition) { return loop::Call::make(loop::Function::Not, {condition}); }

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
  if (nest::lists_entries(nest_.tensor(operand->tensor).type.format))
    return listed_rows_by_work(loop, *operand, scope, out);
  const LevelCode& entries = *code(operand->tensor).levels[1];
  const loop::Buffer positions = entries.positions_buffer();
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
  const Positions piece{body.let("p", loop::maximum(from, here)),
                        body.let("p_end", loop::minimum(to, end - row))};
  inner.chunk_entries[operand->tensor] = entries.used(body, piece);
  inner.chunk = frame_->chunk();
  inner.begins_here = body.let("begins_here", begin <= from + row);
  inner.ends_here = body.let("ends_here", to + row < end);
  cut_along(loop, *operand, row, entries.used(body, {from, to}), inner, body);
  inner.is_shared_row =
      body.let("is_shared", Binary::make(BinaryOp::Or, from + row < begin, end <= to + row));
  enter(loop, row, {}, {}, inner, body);
  // Chunks without work come behind the end of the last row.
  out.add(loop::If::make(begin < end, loop::For::make(name, first, last, body.take())));
}

// Of other operands that are walked along a chunk has what lies between its entries and the first
// one of the next chunk; before the first entry of a row and after its last, all there is.
void KernelLowering::cut_along(const nest::Forall& loop, const expr::Access& operand,
                               const Expr& row, const Positions& whole, Scope& scope,
                               Emitter& out) {
  const LevelCode& entries = *code(operand.tensor).levels[1];
  const Positions piece = scope.chunk_entries.at(operand.tensor);
  const Expr past = coordinates_.extent(nest::entries_index(nest_, operand));
  for (const expr::Access* access : live_accesses(loop.body, scope.absent)) {
    if (scope.chunk_entries.contains(access->tensor) || !nest::goes_along(nest_, *access, operand))
      continue;
    const LevelCode& level = *code(access->tensor).levels[1];
    level.prepare(out);
    const Positions run = level.positions(out, {row, {}}, {});
    // Where the entry at hand would be, or the end where the row has none there.
    const auto cut = [&](const std::string& name, const Expr& start, const Expr& is_inside,
                         const Expr& at) {
      const Expr found = out.declare(name, start);
      Emitter inside = out.nested(), stored = out.nested();
      const Expr coordinate = inside.declare("coordinate", past);
      stored.assign(coordinate, entries.coordinate(at, whole));
      inside.add(loop::If::make(at < whole.end, stored.take()));
      inside.assign(found, emit_lower_bound(inside, level, run, coordinate));
      out.add(loop::If::make(is_inside, inside.take()));
      return found;
    };
    const bool loses = mutant("cut-along-begins-late");
    const Expr begins = loses ? piece.begin + 1 : piece.begin;
    const Expr first = cut("q", run.begin, is_not(scope.begins_here), begins);
    const Expr last = cut("q_end", run.end, is_not(scope.ends_here), piece.end);
    scope.chunk_entries[access->tensor] = {first, last, run.base};
  }
}

// Where entries are listed, entry p of row i is number p + i as well: so many entries stand before
// a number, and the ends of as many rows as are left.
void KernelLowering::listed_rows_by_work(const nest::Forall& loop, const expr::Access& operand,
                                         const Scope& scope, Emitter& out) {
  const Cursor& cursor = scope.cursors.at(operand.id);
  const LevelCode& level = level_code(cursor);
  level.prepare(out);
  const Expr rows = coordinates_.extent(loop.var);
  const Positions all = run_of(cursor, scope, out);
  const Expr known = frame_->on_gpu() ? known_positions(operand.tensor, 0) : Expr();
  const Expr entries = known ? known : out.let("entries", all.end - all.begin);
  const Work work{rows + entries, known.get() != nullptr};
  const auto number_of = [&](const Expr& entry) {
    return level.coordinate(all.begin + entry, all) + entry;
  };
  const auto [before, until] = ends_of_chunk(
      "before", "until",
      [&](const Expr& end, Emitter& search) {
        const Expr number = search.let("number", frame_->share(work, end));
        return emit_first_by_halves(search, entries, number_of, number);
      },
      out);
  // Row `last` begins in the chunk, perhaps; those before it end there.
  const int64_t skipped = mutant("listed-row-lost") ? 1 : 0;
  const Expr first = out.let("first", frame_->share(work, frame_->chunk()) - before + skipped);
  const Expr last = out.let("last", frame_->share(work, frame_->chunk() + 1) - until);

  AccessSet iterating;
  std::vector<Walker> walkers;
  for (const expr::Access* access : live_accesses(loop.body, scope.absent)) {
    if (access->tensor != operand.tensor) continue;
    const Positions piece{all.begin + before, out.let("p_end", all.begin + until), all.base};
    iterating.insert(access->id);
    walkers.push_back(
        {access->id, &level, out.declare(operand.tensor + "_at", piece.begin), piece});
  }
  const std::string name = names_.fresh(loop.var);
  const Expr row = loop::Var::make(name);
  Emitter body = out.nested();
  Scope inner = scope;
  inner.ends_here = row < last;
  look_for(row, walkers, body);
  dense_body(loop, row, iterating, walkers, inner, body);
  step_past(walkers, body);
  out.add(loop::For::make(name, first, loop::minimum(last + 1, rows), body.take()));
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
