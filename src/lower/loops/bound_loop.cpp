// Gives each thread one coordinate.
#include "lower/loops/bound_loop.h"

#include "lower/loops/bound_for.h"
#include "lower/loops/dense_loop.h"

namespace tulle::lower {

bool BoundLoop::applies(const LoopSite& site) const {
  return site.loop.tag.is_within_block() && site.walked.empty() && site.visits_all();
}

void BoundLoop::lower(const LoopSite& site, Emitter& out) const {
  KernelContext& kernel = site.parts.kernel;
  const VisitedRange range = visited_range(site, out);
  const BoundFor bound(kernel, site.loop, kernel.names.fresh(site.loop.var), site.scope.thread);
  KernelScope inner = site.scope;
  inner.thread = bound.inside;
  Emitter body = out.nested();
  visit_coordinate(site, loop::Var::make(bound.name), {}, inner, body);
  out.add(bound.over(kernel, range.bounds.end, body.take()));
}

}  // namespace tulle::lower
