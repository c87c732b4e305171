// Cutting the outermost loop into chunks of equal work.
#include "lower/kernel_lowering.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Cast;
using loop::Expr;
using loop::IntConst;
using loop::Load;

Expr KernelLowering::share(const Expr& total, const Expr& chunk) const {
  return Binary::make(BinaryOp::Div, total * chunk, chunks_);
}

KernelLowering::Range KernelLowering::chunk_of_rows(const nest::Forall& loop, const Scope& scope,
                                                    const Expr& extent, Emitter& out) {
  can_be_cut_ = true;
  loop::Buffer positions;
  if (loop.tag.balance == nest::LoopTag::Balance::Nnz) {
    // The operand whose first level is this loop's and whose second stores positions, one for each
    // row.
    for (const expr::Access* access : live_accesses(loop.body, scope.absent)) {
      const Cursor& cursor = scope.cursors.at(access->id);
      const auto& levels = tensors_.at(access->tensor).levels;
      if (cursor.level != 0 || levels.size() < 2 || !levels[0]->is_full()) continue;
      if (!coordinates_.is_level_variable(level(cursor).expr, access->indices, loop.var)) continue;
      positions = levels[1]->positions_buffer();
      if (positions) break;
    }
  }
  if (!positions)
    return {out.let("first", share(extent, frame_->chunk())),
            out.let("last", share(extent, frame_->chunk() + 1))};

  // Work before row i: its entries and itself. Strictly ascending, so each bound is found by
  // halving.
  auto work_before = [&](const Expr& row) {
    return Cast::make(DType::Int64, Load::make(positions, row)) + row;
  };
  const Expr total = out.let("work", work_before(extent));
  auto cut = [&](const std::string& name, const Expr& chunk) {
    const Expr target = out.let("target", share(total, chunk));
    const Expr low = out.declare(name, IntConst::make(0));
    const Expr high = out.declare("high", extent);
    Emitter body = out.nested(), right = out.nested(), left = out.nested();
    const Expr half =
        body.snapshot("half", Binary::make(BinaryOp::Div, low + high, IntConst::make(2)));
    right.assign(low, half + 1);
    left.assign(high, half);
    const Expr before = mutant("chunk-skips-row") && name == "first" ? work_before(half) <= target
                                                                     : work_before(half) < target;
    body.add(loop::If::make(before, right.take(), left.take()));
    out.add(loop::While::make(low < high, body.take()));
    return low;
  };
  const Expr first = cut("first", frame_->chunk());
  const Expr last = cut("last", frame_->chunk() + 1);
  return {first, last};
}

KernelLowering::Range KernelLowering::chunk_of_positions(const LevelCode& level,
                                                         const Positions& positions, Emitter& out) {
  can_be_cut_ = true;
  const Expr count = out.let("count", positions.end - positions.begin);
  auto cut = [&](const std::string& name, const Expr& chunk) {
    const Expr at = out.declare(name, positions.begin + share(count, chunk));
    if (level.is_unique() || mutant("chunk-cuts-run")) return at;
    // A run of equal coordinates belongs to the chunk that it starts in.
    const Expr inside = out.declare("inside", loop::both(positions.begin < at, at < positions.end));
    Emitter body = out.nested(), on = out.nested(), stop = out.nested();
    on.assign(at, at + 1);
    on.assign(inside, at < positions.end);
    stop.assign(inside, IntConst::make(0, loop::kBool));
    body.add(loop::If::make(level.coordinate(at, positions) == level.coordinate(at - 1, positions),
                            on.take(), stop.take()));
    out.add(loop::While::make(inside, body.take()));
    return at;
  };
  const Expr first = cut("first", frame_->chunk());
  const Expr last = cut("last", frame_->chunk() + 1);
  return {first, last};
}

}  // namespace tulle::lower
