// Finds the ends of chunks.
#include "lower/loops/chunks.h"

#include <algorithm>

#include "lower/cursors.h"
#include "lower/lattice.h"
#include "lower/levels/search.h"
#include "lower/loops/stored_rows.h"
#include "lower/storage.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

Expr known_positions(const KernelContext& kernel, const std::string& tensor, size_t level) {
  const Format& format = kernel.nest.tensor(tensor).type.format;
  const auto& levels = format.levels();
  if (kernel.nest.tensor(tensor).role != nest::Tensor::Role::Operand) return {};
  // If the levels below have a fixed number of slots, the number of values determines the
  // positions.
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

bool Chunks::is_cut(const nest::Forall& loop) const {
  return kernel_.nest.root.get() == &loop && frame_.kind() != KernelFrame::Kind::Bound;
}

Work Chunks::work_of_rows(const std::string& tensor, const loop::Buffer& positions,
                          const Expr& rows, Emitter& out) const {
  const Expr entries = frame_.on_gpu() ? known_positions(kernel_, tensor, 1) : Expr();
  if (entries) return {rows + entries, true};
  return {out.let("work", work_before(positions, rows)), false};
}

namespace {

// The operand whose first level matches this loop and whose second level stores positions per row.
// Null if there is none.
const expr::Access* operand_with_rows(const KernelContext& kernel, const nest::Forall& loop,
                                      const KernelScope& scope) {
  for (const expr::Access* access : live_accesses(loop.body, scope.absent)) {
    const Cursor& cursor = scope.cursors.at(access->id);
    const auto& levels = kernel.code(access->tensor).levels;
    if (cursor.level != 0 || levels.size() < 2 || !levels[0]->is_full()) continue;
    if (!kernel.coordinates.is_level_variable(kernel.level(cursor).expr, access->indices, loop.var))
      continue;
    if (levels[1]->positions_buffer()) return access;
  }
  return nullptr;
}

}  // namespace

LoopBounds Chunks::of_rows(const nest::Forall& loop, const KernelScope& scope, const Expr& extent,
                           Emitter& out) {
  kernel_.facts.can_be_cut = true;
  const bool by_entries = loop.tag.balance == nest::LoopTag::Balance::Nnz;
  const expr::Access* operand = by_entries ? operand_with_rows(kernel_, loop, scope) : nullptr;
  const Expr& chunk = frame_.chunk();
  if (!operand) {
    const Work rows{extent, true};
    return {out.let("first", frame_.share(rows, chunk)),
            out.let("last", frame_.share(rows, chunk + 1))};
  }
  const loop::Buffer positions = kernel_.code(operand->tensor).levels[1]->positions_buffer();
  const Work work = work_of_rows(operand->tensor, positions, extent, out);
  const auto cut = [&](const std::string& name, const Expr& begin, Emitter& to) {
    const Expr target = to.let("target", begin);
    return emit_first_by_halves(
        to, extent, [&](const Expr& row) { return work_before(positions, row); }, target, name);
  };
  const int64_t skipped = mutant("chunk-skips-row") ? 1 : 0;
  if (!frame_.on_gpu()) {
    const Expr first = cut("first", frame_.share(work, chunk) + skipped, out);
    return {first, cut("last", frame_.share(work, chunk + 1), out)};
  }
  const LoopBounds bounds = ends(
      "first", "last",
      [&](const Expr& number, Emitter& to) { return cut("row", frame_.share(work, number), to); },
      out);
  return {skipped == 0 ? bounds.begin : bounds.begin + skipped, bounds.end};
}

// The search is a loop that runs twice, because a shorter kernel assembles faster.
LoopBounds Chunks::ends(const std::string& begin_name, const std::string& end_name,
                        const std::function<Expr(const Expr&, Emitter&)>& cut, Emitter& out) {
  const Expr begin = out.declare(begin_name, IntConst::make(0));
  const Expr end = out.declare(end_name, IntConst::make(0));
  const std::string number = kernel_.names.fresh("end");
  Emitter search = out.nested();
  search.assign(begin, end);
  search.assign(end, cut(loop::Var::make(number), search));
  out.add(loop::For::make(number, frame_.chunk(), frame_.chunk() + 2, search.take()));
  return {begin, end};
}

LoopBounds Chunks::of_positions(const Cursor& cursor, const Positions& positions, Emitter& out) {
  kernel_.facts.can_be_cut = true;
  const LevelCode& level = kernel_.level_code(cursor);
  // The host has the count of the first level, unless some slots at its end are unused.
  const Level& kind = kernel_.level(cursor);
  const bool all = cursor.level == 0 && stores_positions(kind.kind) && kind.multiple <= 1;
  const Expr known =
      all && frame_.on_gpu() ? known_positions(kernel_, cursor.access->tensor, 0) : Expr();
  const Work work{known ? known : out.let("count", positions.end - positions.begin),
                  known.get() != nullptr};
  const bool cuts_runs = level.is_unique() || mutant("chunk-cuts-run");
  const auto cut = [&](const std::string& name, const Expr& chunk, Emitter& to) {
    const Expr at = to.declare(name, positions.begin + frame_.share(work, chunk));
    if (cuts_runs) return at;
    // A run of equal coordinates belongs to the chunk that it starts in.
    Emitter inside = to.nested();
    const Expr before = inside.let("coordinate", level.coordinate(at - 1, positions));
    inside.assign(at, run_end(kernel_, cursor, at - 1, positions, before, inside));
    to.add(loop::If::make(loop::both(positions.begin < at, at < positions.end), inside.take()));
    return at;
  };
  if (frame_.on_gpu() && !cuts_runs) {
    return ends(
        "first", "last", [&](const Expr& number, Emitter& to) { return cut("at", number, to); },
        out);
  }
  const Expr first = cut("first", frame_.chunk(), out);
  return {first, cut("last", frame_.chunk() + 1, out)};
}

}  // namespace tulle::lower
