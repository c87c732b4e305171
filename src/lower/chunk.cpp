// Cutting the outermost loop into chunks of equal work.
#include <algorithm>

#include "lower/kernel_lowering.h"
#include "lower/search.h"
#include "nest/bound_loops.h"
#include "nest/cut_rows.h"
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

// Work before a row: that of the rows before it, each with its entries and itself. Strictly
// ascending.
Expr work_before(const loop::Buffer& positions, const Expr& row) {
  return Cast::make(DType::Int64, Load::make(positions, row)) + row;
}

}  // namespace

Expr KernelLowering::known_positions(const std::string& tensor, size_t level) const {
  const Format& format = nest_.tensor(tensor).type.format;
  const auto& levels = format.levels();
  if (nest_.tensor(tensor).role != nest::Tensor::Role::Operand) return {};
  // Where each has so many slots on the levels below there are as many values times that.
  int64_t slots = 1;
  const auto below = levels.begin() + static_cast<std::ptrdiff_t>(level) + 1;
  const bool is_fixed = std::all_of(below, levels.end(), [&](const Level& one) {
    const bool is_block = is_full(one.kind) && one.expr.part == LevelExpr::Part::Remainder;
    if (is_block) slots *= one.expr.divisor;
    return is_block || is_branchless(one.kind);
  });
  if (is_fixed) {
    const Expr count = loop::Var::make(count_name(tensor));
    return slots == 1 ? count : Binary::make(BinaryOp::Div, count, IntConst::make(slots));
  }
  return level == 0 && counts_stored(format) ? Expr(loop::Var::make(stored_name(tensor))) : Expr();
}

Work KernelLowering::work_of_rows(const std::string& tensor, const loop::Buffer& positions,
                                  const Expr& rows, Emitter& out) const {
  const Expr entries = frame_->on_gpu() ? known_positions(tensor, 1) : Expr();
  if (entries) return {rows + entries, true};
  return {out.let("work", work_before(positions, rows)), false};
}

KernelLowering::Range KernelLowering::chunk_of_rows(const nest::Forall& loop, const Scope& scope,
                                                    const Expr& extent, Emitter& out) {
  can_be_cut_ = true;
  loop::Buffer positions;
  std::string operand;
  if (loop.tag.balance == nest::LoopTag::Balance::Nnz) {
    // The operand whose first level is this loop's and whose second stores positions, one for each
    // row.
    for (const expr::Access* access : live_accesses(loop.body, scope.absent)) {
      const Cursor& cursor = scope.cursors.at(access->id);
      const auto& levels = tensors_.at(access->tensor).levels;
      if (cursor.level != 0 || levels.size() < 2 || !levels[0]->is_full()) continue;
      if (!coordinates_.is_level_variable(level(cursor).expr, access->indices, loop.var)) continue;
      positions = levels[1]->positions_buffer();
      operand = access->tensor;
      if (positions) break;
    }
  }
  const Expr& chunk = frame_->chunk();
  if (!positions) {
    const Work rows{extent, true};
    return {out.let("first", frame_->share(rows, chunk)),
            out.let("last", frame_->share(rows, chunk + 1))};
  }
  const Work work = work_of_rows(operand, positions, extent, out);
  auto cut = [&](const std::string& name, const Expr& begin, Emitter& to) {
    const Expr target = to.let("target", begin);
    return emit_first_by_halves(
        to, extent, [&](const Expr& row) { return work_before(positions, row); }, target, name);
  };
  const int64_t skipped = mutant("chunk-skips-row") ? 1 : 0;
  if (!frame_->on_gpu()) {
    const Expr first = cut("first", frame_->share(work, chunk) + skipped, out);
    return {first, cut("last", frame_->share(work, chunk + 1), out)};
  }
  const Range range = ends_of_chunk(
      "first", "last",
      [&](const Expr& number, Emitter& to) { return cut("row", frame_->share(work, number), to); },
      out);
  return {skipped == 0 ? range.begin : range.begin + skipped, range.end};
}

// One search that runs twice: the shorter a kernel is, the sooner it is assembled.
KernelLowering::Range KernelLowering::ends_of_chunk(
    const std::string& begin_name, const std::string& end_name,
    const std::function<Expr(const Expr&, Emitter&)>& cut, Emitter& out) {
  const Expr begin = out.declare(begin_name, IntConst::make(0));
  const Expr end = out.declare(end_name, IntConst::make(0));
  const std::string number = names_.fresh("end");
  Emitter search = out.nested();
  search.assign(begin, end);
  search.assign(end, cut(loop::Var::make(number), search));
  out.add(loop::For::make(number, frame_->chunk(), frame_->chunk() + 2, search.take()));
  return {begin, end};
}

Expr KernelLowering::run_end(const Cursor& cursor, const Expr& begin, const Positions& run,
                             const Expr& coordinate, Emitter& out) {
  // Slots of unordered levels above may have been put together.
  const bool ascends = nest_.tensor(cursor.access->tensor).type.format.is_ordered();
  return frame_->on_gpu() && ascends
             ? emit_segment_end_by_halves(out, level_code(cursor), begin, run, coordinate)
             : emit_segment_end(out, level_code(cursor), begin, run, coordinate);
}

KernelLowering::Range KernelLowering::chunk_of_positions(const Cursor& cursor,
                                                         const Positions& positions, Emitter& out) {
  can_be_cut_ = true;
  const LevelCode& level = level_code(cursor);
  // Those of the first level, unless some at its end are unused.
  const Level& kind = this->level(cursor);
  const bool all = cursor.level == 0 && stores_positions(kind.kind) && kind.multiple <= 1;
  const Expr known = all && frame_->on_gpu() ? known_positions(cursor.access->tensor, 0) : Expr();
  const Work work{known ? known : out.let("count", positions.end - positions.begin),
                  known.get() != nullptr};
  const bool cuts_runs = level.is_unique() || mutant("chunk-cuts-run");
  const auto cut = [&](const std::string& name, const Expr& chunk, Emitter& to) {
    const Expr at = to.declare(name, positions.begin + frame_->share(work, chunk));
    if (cuts_runs) return at;
    // A run of equal coordinates belongs to the chunk that it starts in.
    Emitter inside = to.nested();
    const Expr before = inside.let("coordinate", level.coordinate(at - 1, positions));
    inside.assign(at, run_end(cursor, at - 1, positions, before, inside));
    to.add(loop::If::make(loop::both(positions.begin < at, at < positions.end), inside.take()));
    return at;
  };
  if (frame_->on_gpu() && !cuts_runs) {
    return ends_of_chunk(
        "first", "last", [&](const Expr& number, Emitter& to) { return cut("at", number, to); },
        out);
  }
  const Expr first = cut("first", frame_->chunk(), out);
  return {first, cut("last", frame_->chunk() + 1, out)};
}

Expr KernelLowering::chunk_around(const nest::Variable& variable, const Scope& scope) const {
  for (const auto& [name, other] : nest_.variables) {
    const bool chunks = other.origin == nest::Variable::Origin::Chunk ||
                        other.origin == nest::Variable::Origin::EntryChunk;
    if (!chunks || other.parent != variable.parent || other.second != variable.second) continue;
    if (const Expr chunk = coordinates_.coordinate(name, scope)) return chunk;
  }
  internal_error("no loop over chunks around that over the rows or entries of ", variable.tensor);
}

// Chunk c has the work from c * length to (c + 1) * length: entry p of row i is number p + i of it.
// Rows of at most `length` entries belong to the chunk that they begin in.
void KernelLowering::rows_of_chunk(const nest::Forall& loop, const Scope& scope, Emitter& out) {
  const nest::Variable& variable = nest_.variable(loop.var);
  const Expr chunk = chunk_around(variable, scope);
  if (phase_ == Phase::Merge) return shared_row_of_chunk(loop, chunk, scope, out);
  if (variable.dealt > 0) return pieces_of_chunk(loop, chunk, scope, out);
  const loop::Buffer positions = code(variable.tensor).levels[1]->positions_buffer();
  const Expr rows = coordinates_.extent(variable.parent);
  const Expr length = out.let("length", coordinates_.chunk_length(variable));
  const Expr begin = out.let("work_begin", chunk * length);
  const Expr end = out.let("work_end", begin + length);
  const Expr first = out.snapshot(
      "first", emit_first_by_eighths(
                   out, rows, [&](const Expr& row) { return work_before(positions, row); }, begin));
  // The row before reaches into the chunk, perhaps.
  const Expr next = out.declare("row", loop::maximum(first - 1, IntConst::make(0)));

  Emitter body = out.nested(), mine = out.nested();
  const Expr row = body.snapshot(variable.parent, next);
  auto position = [&](const Expr& at) {
    return Cast::make(DType::Int64, Load::make(positions, at));
  };
  const Expr from = body.let("p", position(row)), to = body.let("p_end", position(row + 1));
  const Expr is_long = body.let("is_long", length < to - from);
  const Expr here = mutant("row-pieces-overlap") ? begin - row - 1 : begin - row;
  Scope inner = scope;
  const Positions piece = {
      mine.let("p", loop::Select::make(is_long, loop::maximum(from, here), from)),
      mine.let("p_end", loop::Select::make(is_long, loop::minimum(to, end - row), to))};
  inner.chunk_entries[variable.tensor] = code(variable.tensor).levels[1]->used(mine, piece);
  inner.is_shared_row = is_long;
  inner.chunk = chunk;
  inner.begins_here = first <= row;
  if (adds_up_rows()) shared_rows_ = {positions, coordinates_.chunk_length(variable), {}, {}, {}};
  enter(loop, row, {}, {}, inner, mine);
  body.add(loop::If::make(Binary::make(BinaryOp::Or, is_long, first <= row), mine.take()));
  body.assign(next, next + 1);
  out.add(
      loop::While::make(loop::both(next < rows, work_before(positions, next) < end), body.take()));
}

// Chunk c has every `dealt`-th piece of part c / dealt, from number c % dealt on.
void KernelLowering::pieces_of_chunk(const nest::Forall& loop, const Expr& chunk,
                                     const Scope& scope, Emitter& out) {
  const nest::Variable& variable = nest_.variable(loop.var);
  const StoredRows stored = stored_rows(variable);
  const int64_t parts = variable.parts / variable.dealt;
  const DealtPieces pieces = dealt_pieces_of(stored, variable.factor, parts);
  derive(derive_dealt_pieces(stored, variable.factor, parts, is_bound() ? Backend::Gpu : backend_));
  const Expr dealt = IntConst::make(variable.dealt);
  const Expr part = out.let("part", Binary::make(BinaryOp::Div, chunk, dealt));
  const Expr first =
      out.let("first", Load::make(pieces.parts, part) + Binary::make(BinaryOp::Mod, chunk, dealt));
  const Expr last = out.let("last", Load::make(pieces.parts, part + 1));

  const std::string name = names_.fresh("piece");
  const Expr piece = loop::Var::make(name);
  auto wide = [&](const loop::Buffer& buffer, const Expr& at) {
    return Cast::make(DType::Int64, Load::make(buffer, at));
  };
  Emitter body = out.nested();
  const Expr coded = body.let("coded", wide(pieces.rows, piece));
  const Expr is_shared = body.let("is_shared", coded < IntConst::make(0));
  const Expr row =
      body.let(variable.parent, loop::Select::make(is_shared, IntConst::make(-1) - coded, coded));
  Scope inner = scope;
  const Positions run = {body.let("p", wide(pieces.begins, piece)),
                         body.let("p_end", wide(pieces.begins, piece + 1))};
  inner.chunk_entries[variable.tensor] = code(variable.tensor).levels[1]->used(body, run);
  inner.is_shared_row = is_shared;
  if (adds_up_rows()) {
    shared_rows_ = {stored.positions, coordinates_.chunk_length(variable), pieces.shared,
                    pieces.shared_count, pieces.most_shared};
  }
  enter(loop, row, {}, {}, inner, body);
  out.add(
      loop::For::make(name, first, last, body.take(), loop::LoopKind::Serial, 0, variable.dealt));
}

StoredRows KernelLowering::stored_rows(const nest::Variable& variable) {
  return {variable.tensor, code(variable.tensor).levels[1]->positions_buffer(),
          coordinates_.extent(variable.parent), loop::Var::make(count_name(variable.tensor))};
}

void KernelLowering::derive(Derived derived) {
  // A loop may stand in several branches.
  const bool known = std::any_of(derived_.begin(), derived_.end(), [&](const Derived& other) {
    return other.what == derived.what && other.tensor == derived.tensor;
  });
  if (!known) derived_.push_back(std::move(derived));
}

void KernelLowering::shared_row_of_chunk(const nest::Forall& loop, const Expr& chunk,
                                         const Scope& scope, Emitter& out) {
  const nest::Variable& variable = nest_.variable(loop.var);
  const loop::Buffer positions = code(variable.tensor).levels[1]->positions_buffer();
  const Expr rows = coordinates_.extent(variable.parent);
  const Expr length = out.let("length", coordinates_.chunk_length(variable));
  const Expr begin = out.let("work_begin", chunk * length);
  const Expr next = emit_first_by_eighths(
      out, rows, [&](const Expr& row) { return work_before(positions, row); }, begin + length);
  const Expr row = out.snapshot(variable.parent, loop::maximum(next - 1, IntConst::make(0)));
  const Expr from = out.let("p", Cast::make(DType::Int64, Load::make(positions, row)));
  // So many chunks as were asked for are there without a row, too.
  const Expr past = variable.parts > 0 ? loop::minimum(row + 1, rows) : row + 1;
  const Expr to = out.let("p_end", Cast::make(DType::Int64, Load::make(positions, past)));
  Emitter mine = out.nested();
  Scope inner = scope;
  inner.chunk = chunk;
  const int64_t short_by = mutant("merged-rows-unfinished") ? 2 : 1;
  inner.last_chunk =
      mine.let("last_chunk", Binary::make(BinaryOp::Div, to + row - short_by, length));
  enter(loop, row, {}, {}, inner, mine);
  out.add(loop::If::make(loop::both(begin <= from + row, length < to - from), mine.take()));
}

void KernelLowering::lower_consumer(const nest::Stmt& stmt, const Scope& scope, Emitter& out) {
  const std::vector<const nest::Assign*> all = nest::assigns(stmt);
  const bool stores = std::any_of(all.begin(), all.end(), [&](const nest::Assign* assign) {
    return assign->tensor == result_;
  });
  const bool adds_up = scope.is_shared_row && stores && adds_up_rows();
  if (adds_up && shares_result_ && !nest::combines_within(stmt, nest_)) {
    // Others add to the row, too: nothing is left to do for one without entries.
    const Positions& entries = scope.chunk_entries.begin()->second;
    Emitter inside = out.nested();
    lower(stmt, scope, inside);
    if (!inside.empty()) out.add(loop::If::make(entries.begin < entries.end, inside.take()));
    return;
  }
  if (!adds_up || scope.by_atomics) return lower(stmt, scope, out);
  Scope alone = scope, shared = scope;
  alone.is_shared_row = {};
  shared.by_atomics = true;
  Emitter yes = out.nested(), no = out.nested();
  lower(stmt, shared, yes);
  lower(stmt, alone, no);
  out.add(loop::If::make(scope.is_shared_row, yes.take(), no.take()));
}

bool KernelLowering::adds_up_rows() const {
  const std::vector<const nest::Assign*> all = nest::assigns(nest_.root);
  return !tuple_pieces_.any() &&
         std::any_of(all.begin(), all.end(), [&](const nest::Assign* assign) {
           return assign->tensor == result_ && nest::adds_up_cut_rows(nest_, *assign);
         });
}

}  // namespace tulle::lower
