// Visits the rows of a chunk of equal work.
#include "lower/loops/rows_by_work.h"

#include "lower/levels/search.h"
#include "lower/loops/merged_rows.h"
#include "lower/loops/stored_rows.h"
#include "nest/merged_rows.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

namespace {

Expr is_not(const Expr& condition) { return loop::Call::make(loop::Function::Not, {condition}); }

// A row of the operand, and the chunk's part of it.
struct CutOperand {
  const LevelCode& entries;
  Expr row;
  Positions whole, piece;
  Expr past;  // larger than all coordinates of a row
};

// One end of the chunk's part in another operand's row.
struct Cut {
  std::string name;
  Expr end;        // of the row, if the chunk does not end inside it
  Expr is_inside;  // whether the chunk ends inside the row
  Expr at;         // the operand's entry at this end
};

// The position in the other operand's entries `run` at which the entry's coordinate would be. If
// the row has no entry there, the end of the run.
Expr emit_cut(const CutOperand& operand, const LevelCode& other, const Positions& run,
              const Cut& cut, Emitter& out) {
  const Expr found = out.declare(cut.name, cut.end);
  Emitter inside = out.nested(), stored = out.nested();
  const Expr coordinate = inside.declare("coordinate", operand.past);
  stored.assign(coordinate, operand.entries.coordinate(cut.at, operand.whole));
  inside.add(loop::If::make(cut.at < operand.whole.end, stored.take()));
  inside.assign(found, emit_lower_bound(inside, other, run, coordinate));
  out.add(loop::If::make(cut.is_inside, inside.take()));
  return found;
}

// Cuts other operands that the loop walks along. A chunk gets their entries from its first entry up
// to the first entry of the next chunk. It also gets all those before the row's first entry and
// after its last one.
void cut_along(const LoopSite& site, const expr::Access& access, const CutOperand& operand,
               KernelScope& scope, Emitter& out) {
  const KernelContext& kernel = site.parts.kernel;
  for (const expr::Access* other : live_accesses(site.loop.body, scope.absent)) {
    if (scope.entries.of_chunk.contains(other->tensor) ||
        !nest::goes_along(kernel.nest, *other, access))
      continue;
    const LevelCode& level = *kernel.code(other->tensor).levels[1];
    level.prepare(out);
    const Positions run = level.positions(out, {operand.row, {}}, {});
    const bool loses = mutant("cut-along-begins-late");
    const Expr begins = loses ? operand.piece.begin + 1 : operand.piece.begin;
    const Cut left{"q", run.begin, is_not(scope.row.begins_here), begins};
    const Cut right{"q_end", run.end, is_not(scope.row.ends_here), operand.piece.end};
    const Expr first = emit_cut(operand, level, run, left, out);
    const Expr last = emit_cut(operand, level, run, right, out);
    scope.entries.of_chunk[other->tensor] = {first, last, run.base};
  }
}

}  // namespace

bool RowsByWork::applies(const LoopSite& site) const { return operand_cut_by_work(site); }

void RowsByWork::lower(const LoopSite& site, Emitter& out) const {
  KernelContext& kernel = site.parts.kernel;
  const RowsInChunk chunk = rows_in_chunk(site, out);
  const auto& [access, positions, rows, work, begin, end] = chunk;
  const LevelCode& entries = *kernel.code(access->tensor).levels[1];
  // The chunk may begin inside the previous row.
  const Expr first = out.snapshot(
      "first", loop::maximum(IntConst::make(0), first_row_from(chunk, begin + 1, out) - 1));
  const Expr last = out.snapshot("last", first_row_from(chunk, end, out));

  const std::string name = kernel.names.fresh(site.loop.var);
  const Expr row = loop::Var::make(name);
  Emitter body = out.nested();
  const Expr from = body.let("p", position_of(positions, row));
  const Expr to = body.let("p_end", position_of(positions, row + 1));
  const Expr here = mutant("work-begins-early") ? begin - row - 1 : begin - row;
  const Positions piece{body.let("p", loop::maximum(from, here)),
                        body.let("p_end", loop::minimum(to, end - row))};
  KernelScope inner = site.scope;
  inner.entries.of_chunk[access->tensor] = entries.used(body, piece);
  inner.row.chunk = site.parts.frame.chunk();
  inner.row.begins_here = body.let("begins_here", begin <= from + row);
  inner.row.ends_here = body.let("ends_here", to + row < end);
  const CutOperand operand{entries, row, entries.used(body, {from, to}),
                           inner.entries.of_chunk.at(access->tensor),
                           kernel.coordinates.extent(nest::entries_index(kernel.nest, *access))};
  cut_along(site, *access, operand, inner, body);
  inner.row.is_shared =
      body.let("is_shared", Binary::make(BinaryOp::Or, from + row < begin, end <= to + row));
  site.parts.entering.enter({site.loop, row}, inner, body);
  // Chunks without work are behind the end of the last row.
  out.add(loop::If::make(begin < end, loop::For::make(name, first, last, body.take())));
}

}  // namespace tulle::lower
