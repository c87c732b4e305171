// Walks over one operand.
#include "lower/loops/operand_walk.h"

#include "lower/cursors.h"

namespace tulle::lower {

const Cursor& walked_cursor(const LoopSite& site) {
  return site.scope.cursors.at(*site.walked.begin());
}

KernelScope scope_of_walk(const LoopSite& site) {
  KernelScope inner = site.scope;
  inner.storing.conditional |= !visits_all_of_result(site.parts.kernel, walked_cursor(site));
  return inner;
}

Positions walked_positions(const LoopSite& site, Emitter& out) {
  KernelContext& kernel = site.parts.kernel;
  const Cursor& cursor = walked_cursor(site);
  kernel.level_code(cursor).prepare(out);
  const Positions all = run_of(kernel, cursor, site.scope, out);
  if (!site.parts.chunks.is_cut(site.loop)) return all;
  const LoopBounds chunk = site.parts.chunks.of_positions(cursor, all, out);
  return {chunk.begin, chunk.end, all.base};
}

}  // namespace tulle::lower
