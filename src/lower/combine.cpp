// Adding up what the threads of a block have summed, each for itself: lanes by shuffles, warps and
// threads by shared memory. Every thread gets the sum.
#include "loop/gpu.h"
#include "lower/kernel_lowering.h"
#include "lower/monoid.h"
#include "nest/bound_loops.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

void KernelLowering::combine_parts(const nest::Forall& loop, const Scope& scope, Emitter& out) {
  if (nest::merges_tuples(loop, nest_)) return merge_tuples(loop, scope, out);
  const auto& assign = *loop.body.as<nest::Assign>();
  const auto& access = *assign.value.as<expr::Access>();
  Scope inner = scope;
  inner.coordinates[loop.var] = IntConst::make(0);  // a thread has one part, its own
  settle(loop.body, inner, out, [&](const Scope& settled, Emitter& body) {
    const Expr part = load(access, settled, body);
    Scope known = settled;
    known.values[access.id] = loop.tag.kind == nest::LoopTag::Kind::Lane
                                  ? sum_of_lanes(part, loop, scope, body)
                                  : sum_in_shared_memory(part, loop, body);
    lower_assign(assign, known, body);
  });
}

Expr KernelLowering::sum_of_lanes(const Expr& part, const nest::Forall& loop, const Scope& scope,
                                  Emitter& out) {
  const int64_t lanes = *nest_.known_extent(loop.var);
  const int width = static_cast<int>(mutant("lanes-half-summed") && lanes > 1 ? lanes / 2 : lanes);
  const loop::ReduceOp op = reduction_of(*loop.body.as<nest::Assign>()->accumulate, part.type());
  const Expr sum = width > 1 ? out.let("sum", loop::LaneReduce::make(op, part, width)) : part;
  if (lanes == kWarpSize || scope.lane) return sum;  // all lanes of the group have it
  // The lanes past the last have no part in it.
  return out.let(
      "sum", loop::LaneShuffle::make(loop::ShuffleMode::Index, sum, IntConst::make(0), kWarpSize));
}

Expr KernelLowering::sum_in_shared_memory(const Expr& part, const nest::Forall& loop,
                                          Emitter& out) {
  const bool warps = loop.tag.kind == nest::LoopTag::Kind::Warp;
  const int64_t extent = *nest_.known_extent(loop.var);
  const int64_t row = warps ? kWarpSize : 1;  // the lanes of a warp have sums of their own
  const loop::Type type = part.type();
  const nest::Monoid monoid = *loop.body.as<nest::Assign>()->accumulate;
  const loop::Buffer shared =
      loop::make_buffer(names_.fresh("parts"), type.scalar, loop::Space::Shared);
  out.add(loop::Allocate::make(shared, IntConst::make(extent * row), false));
  const Expr total = out.declare("total", identity_of(monoid, type));
  const loop::Stmt barrier = loop::Barrier::make(loop::BarrierScope::Block);

  const std::string number = names_.fresh("part"), lane = names_.fresh("lane");
  Emitter put = out.nested();
  put.store(shared,
            loop::Var::make(number) * row + (warps ? loop::Var::make(lane) : IntConst::make(0)),
            part);
  loop::Stmt writing = put.take();
  if (warps) {
    writing = loop::For::make(lane, IntConst::make(0), IntConst::make(kWarpSize), writing,
                              loop::LoopKind::Lane);
  }
  out.add(barrier);  // all have read what stood there before
  out.add(loop::For::make(number, IntConst::make(0), IntConst::make(extent), writing,
                          warps ? loop::LoopKind::Warp : loop::LoopKind::Thread));
  if (!mutant("parts-without-barrier")) out.add(barrier);

  const std::string other = names_.fresh("other");
  Emitter add = out.nested();
  auto take = [&](const Expr& at) {
    add.assign(total, combine(monoid, total, loop::Load::make(shared, at)));
    return loop::For::make(other, IntConst::make(0), IntConst::make(extent), add.take());
  };
  if (warps) {
    const std::string warp = names_.fresh("warp"), own = names_.fresh("lane");
    const loop::Stmt reading = take(loop::Var::make(other) * row + loop::Var::make(own));
    out.add(loop::For::make(warp, IntConst::make(0), IntConst::make(nest::warps_of_block(nest_)),
                            loop::For::make(own, IntConst::make(0), IntConst::make(kWarpSize),
                                            reading, loop::LoopKind::Lane),
                            loop::LoopKind::Warp));
  } else {
    out.add(take(loop::Var::make(other)));
  }
  return out.snapshot("sum", total);
}

}  // namespace tulle::lower
