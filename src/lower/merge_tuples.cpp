// Merging the tuples that the lanes of a warp have gathered, each for itself: in every step a lane
// merges those of another lane into its own, by shuffles.
#include "loop/gpu.h"
#include "lower/kernel_lowering.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

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

}  // namespace

void KernelLowering::merge_tuples(const nest::Forall& loop, const Scope& scope, Emitter& out) {
  TULLE_CHECK(loop.tag.kind == nest::LoopTag::Kind::Lane, "tuples over lanes");
  const int64_t stride = nest::lanes_inside(nest_, loop.var);
  const int64_t lanes = *nest_.known_extent(loop.var) * stride;
  Scope inner = scope;
  inner.coordinates[loop.var] = IntConst::make(0);  // a thread has one part, its own
  inner.lanes = stride;
  if (!scope.lane) inner.lane = loop::Var::make(names_.fresh("lane"));
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

void KernelLowering::exchange_tuples(const nest::Stmt& merges, const Partner& partner, Scope scope,
                                     Emitter& out) {
  for (const nest::Assign* assign : nest::assigns(merges))
    scope.partners[assign->value.as<expr::Access>()->id] = partner;
  scope.visits_padding = true;  // lanes stay together
  lower(merges, scope, out);
}

}  // namespace tulle::lower
