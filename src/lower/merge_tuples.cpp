// Merging the tuples that the threads of a block have gathered, each for itself. Of lanes: in every
// step a lane merges those of another lane into its own, by shuffles. Of warps and threads: each
// puts its own into shared memory, and all merge all of them.
#include <map>
#include <utility>

#include "loop/gpu.h"
#include "lower/kernel_lowering.h"
#include "lower/levels/dense.h"
#include "lower/levels/spread.h"
#include "nest/bound_loops.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

namespace {

// acc op= part[lane, k], for each part of the tuple: part[lane, k] op= part[lane, k]. Shuffles take
// one element after the other, from registers if they are written out.
nest::Stmt into_parts(const nest::Stmt& stmt) {
  if (const auto* sequence = stmt.as<nest::Sequence>()) {
    std::vector<nest::Stmt> stmts;
    for (const nest::Stmt& part : sequence->stmts) stmts.push_back(into_parts(part));
    return nest::Sequence::make(std::move(stmts));
  }
  if (const auto* forall = stmt.as<nest::Forall>()) {
    const bool vector = forall->tag.kind == nest::LoopTag::Kind::Vector;
    const nest::LoopTag written_out{.kind = nest::LoopTag::Kind::Unrolled};
    return nest::Forall::make(forall->var, into_parts(forall->body),
                              vector ? written_out : forall->tag);
  }
  const auto* assign = stmt.as<nest::Assign>();
  const auto* access = assign->value.as<expr::Access>();
  return nest::Assign::make(access->tensor, access->indices, assign->accumulate, assign->value);
}

// Leaves results to those for whom the condition holds.
void store_if(const Expr& condition, Scope& scope) {
  scope.stores_if = scope.stores_if ? loop::both(scope.stores_if, condition) : condition;
}

}  // namespace

void KernelLowering::merge_tuples(const nest::Forall& loop, const Scope& scope, Emitter& out) {
  if (loop.tag.kind != nest::LoopTag::Kind::Lane) return merge_in_shared_memory(loop, scope, out);
  const int64_t stride = nest::lanes_inside(nest_, loop.var);
  const int64_t lanes = *nest_.known_extent(loop.var) * stride;
  Scope inner = scope;
  inner.coordinates[loop.var] = IntConst::make(0);  // a thread has one part, its own
  inner.lanes = stride;
  if (!scope.lane) inner.lane = loop::Var::make(names_.fresh("lane"));
  // What is no workspace is the warp's, and every lane of a group would add to it.
  const Expr in_group = loop::Binary::make(loop::BinaryOp::Mod, inner.lane, IntConst::make(lanes));
  if (!mutant("every-lane-adds")) store_if(in_group < IntConst::make(stride), inner);
  Emitter body = out.nested();
  settle(loop.body, inner, body, [&](const Scope& settled, Emitter& inside) {
    const nest::Stmt merges = into_parts(loop.body);
    const int64_t first = mutant("lanes-half-merged") ? lanes / 4 : lanes / 2;
    for (int64_t distance = first; distance >= stride; distance /= 2)
      exchange_tuples(merges, {distance, static_cast<int>(lanes)}, settled, inside);
    lower(loop.body, settled, inside);
  });
  if (scope.lane) {
    out.add(body.take());
  } else {
    out.add(loop::For::make(inner.lane.as<loop::Var>()->name, IntConst::make(0),
                            IntConst::make(lanes), body.take(), loop::LoopKind::Lane));
  }
}

void KernelLowering::merge_in_shared_memory(const nest::Forall& loop, const Scope& scope,
                                            Emitter& out) {
  const bool warps = loop.tag.kind == nest::LoopTag::Kind::Warp;
  const int64_t extent = *nest_.known_extent(loop.var);
  const std::string number = names_.fresh(loop.var), lane = names_.fresh("lane");
  const std::string other = names_.fresh("other"), warp = names_.fresh("warp");
  const loop::Stmt barrier = loop::Barrier::make(loop::BarrierScope::Block);
  // The lanes of a warp have tuples of their own.
  const auto on_lanes = [&](const std::string& all, int64_t count, loop::Stmt body) {
    if (warps)
      body = loop::For::make(lane, IntConst::make(0), IntConst::make(kWarpSize), std::move(body),
                             loop::LoopKind::Lane);
    return loop::For::make(all, IntConst::make(0), IntConst::make(count), std::move(body),
                           warps ? loop::LoopKind::Warp : loop::LoopKind::Thread);
  };
  Emitter put = out.nested();
  std::map<std::string, ValuePlace> own;
  for (const nest::Assign* assign : nest::assigns(loop.body)) {
    const auto& part = *assign->value.as<expr::Access>();
    own[part.tensor] = share_part(part, extent, loop::Var::make(number), loop::Var::make(other),
                                  warps ? loop::Var::make(lane) : Expr(), put, out);
  }
  out.add(barrier);  // all have read what stood there before
  out.add(on_lanes(number, extent, put.take()));
  if (!mutant("tuples-without-barrier")) out.add(barrier);

  Scope inner = scope;
  inner.coordinates[loop.var] = loop::Var::make(other);
  inner.in_warp |= warps;
  if (warps) {
    inner.lane = loop::Var::make(lane);
    inner.lanes = kWarpSize;
    // What is no workspace is the block's, and every warp would add to it, as would lanes for which
    // the loops over lanes inside have no iteration.
    if (const int64_t inside = nest::lanes_of(nest_, loop.body); inside < kWarpSize)
      store_if(inner.lane < IntConst::make(inside), inner);
    if (!mutant("every-warp-adds")) store_if(loop::Var::make(warp) == IntConst::make(0), inner);
  }
  Emitter merge = out.nested();
  settle(loop.body, inner, merge,
         [&](const Scope& settled, Emitter& inside) { lower(loop.body, settled, inside); });
  // Other code may merge them too: that for rows that chunks share stands beside that for others.
  for (auto& [part, place] : own) static_cast<ValuePlace&>(code(part)) = std::move(place);
  const loop::Stmt all =
      loop::For::make(other, IntConst::make(0), IntConst::make(extent), merge.take());
  out.add(warps ? on_lanes(warp, nest::warps_of_block(nest_), all) : all);
}

// Puts what a thread has of a part into shared memory, where that of thread `other` is read from
// then on: a row for each lane, in it the elements of one warp after the other. Returns where it
// was read from before.
ValuePlace KernelLowering::share_part(const expr::Access& part, int64_t extent, const Expr& number,
                                      const Expr& other, const Expr& lane, Emitter& put,
                                      Emitter& out) {
  TensorCode& target = code(part.tensor);
  const int64_t elements = target.scalar ? 1 : target.elements;
  const int64_t row = (extent * elements) | 1;  // odd, so that lanes are in different banks
  const loop::Buffer shared = loop::make_buffer(
      names_.fresh("tuples"), nest_.tensor(part.tensor).type.type, loop::Space::Shared);
  out.add(loop::Allocate::make(shared, IntConst::make(lane ? row * kWarpSize : row), false));
  const Expr base = lane ? lane * row : IntConst::make(0);
  kernel_.for_elements(part.tensor, put, [&](const Expr& element, const Expr& value, Emitter& one) {
    one.store(shared, base + number * elements + element, value);
  });
  ValuePlace before = std::exchange(static_cast<ValuePlace&>(target), ValuePlace());
  target.values = shared;
  target.base = base + other * elements;
  for (const std::string& index : part.indices) {
    const nest::Forall* loop = nest::find_loop(nest_.root, index);
    if (loop && loop->tag.is_within_block()) {
      target.levels.push_back(std::make_unique<SpreadLevel>());
    } else {
      target.levels.push_back(std::make_unique<DenseLevel>(coordinates_.extent(index)));
    }
  }
  return before;
}

void KernelLowering::exchange_tuples(const nest::Stmt& merges, const Partner& partner, Scope scope,
                                     Emitter& out) {
  for (const nest::Assign* assign : nest::assigns(merges))
    scope.partners[assign->value.as<expr::Access>()->id] = partner;
  scope.visits_padding = true;  // lanes stay together
  lower(merges, scope, out);
}

}  // namespace tulle::lower
