// Merges tuples by shuffles.
#include "lower/loops/tuples_of_lanes.h"

#include <string>
#include <utility>
#include <vector>

#include "lower/loops/thread_parts.h"
#include "nest/bound_loops.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

namespace {

// Rewrites acc op= part[lane, k] to part[lane, k] op= part[lane, k] for each part of the tuple.
// Shuffles take one element at a time. Unrolled loops keep the elements in registers.
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

// Every lane merges its partner's tuple into its own parts.
void exchange_tuples(const LoopSite& site, const nest::Stmt& merges, const Partner& partner,
                     KernelScope scope, Emitter& out) {
  for (const nest::Assign* assign : nest::assigns(merges))
    scope.reads.partners[assign->value.as<expr::Access>()->id] = partner;
  scope.thread.visits_padding = true;  // lanes do not diverge
  site.parts.statements.lower(merges, scope, out);
}

}  // namespace

bool TuplesOfLanes::applies(const LoopSite& site) const {
  return site.loop.tag.kind == nest::LoopTag::Kind::Lane && combines_tuples(site);
}

void TuplesOfLanes::lower(const LoopSite& site, Emitter& out) const {
  KernelContext& kernel = site.parts.kernel;
  const nest::Forall& loop = site.loop;
  const int64_t stride = nest::lanes_inside(kernel.nest, loop.var);
  const int64_t lanes = *kernel.nest.known_extent(loop.var) * stride;
  KernelScope inner = site.scope;
  inner.coordinates[loop.var] = IntConst::make(0);  // a thread only has its own part
  inner.thread.lanes = stride;
  const bool is_in_lanes = static_cast<bool>(site.scope.thread.lane);
  if (!is_in_lanes) inner.thread.lane = loop::Var::make(kernel.names.fresh("lane"));
  // A result belongs to the warp, so only one lane of a group adds to it.
  const Expr in_group =
      loop::Binary::make(loop::BinaryOp::Mod, inner.thread.lane, IntConst::make(lanes));
  if (!mutant("every-lane-adds")) store_if(in_group < IntConst::make(stride), inner.storing);
  Emitter body = out.nested();
  const auto merge_all = [&](const KernelScope& settled, Emitter& inside) {
    const nest::Stmt merges = into_parts(loop.body);
    const int64_t first = mutant("lanes-half-merged") ? lanes / 4 : lanes / 2;
    for (int64_t distance = first; distance >= stride; distance /= 2)
      exchange_tuples(site, merges, {distance, static_cast<int>(lanes)}, settled, inside);
    site.parts.statements.lower(loop.body, settled, inside);
  };
  site.parts.entering.settle(loop.body, inner, body, merge_all);
  if (is_in_lanes) return out.add(body.take());
  out.add(loop::For::make(inner.thread.lane.as<loop::Var>()->name, IntConst::make(0),
                          IntConst::make(lanes), body.take(), loop::ForKind::Lane));
}

}  // namespace tulle::lower
