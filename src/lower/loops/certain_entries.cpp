// Records an entry before the loops that compute its value.
#include "lower/loops/certain_entries.h"

#include "lower/loops/loop_table.h"

namespace tulle::lower {

bool CertainEntries::applies(const LoopSite& site) const {
  return site.parts.touches.is_asked() && !site.scope.storing.touched &&
         !vanishes(site.loop.body, site.scope.absent) && site.finds_all_below({});
}

void CertainEntries::lower(const LoopSite& site, Emitter& out) const {
  const KernelContext& kernel = site.parts.kernel;
  const nest::Stmt loops = nest::Forall::make(site.loop.var, site.loop.body);
  site.parts.touches.touch_if(kernel.coordinates.runs(loops), site.scope.storing, out);
  if (kernel.phase == Phase::Count) return;
  KernelScope inner = site.scope;
  inner.storing.touched = true;
  lower_loop(site.parts, site.loop, inner, out);
}

}  // namespace tulle::lower
