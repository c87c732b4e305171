// Visits runs of equal coordinates.
#include "lower/loops/run_loop.h"

#include "lower/cursors.h"
#include "lower/loops/operand_walk.h"
#include "support/check.h"

namespace tulle::lower {

using loop::Expr;

bool RunLoop::applies(const LoopSite& site) const { return site.walked.size() == 1; }

void RunLoop::lower(const LoopSite& site, Emitter& out) const {
  const KernelContext& kernel = site.parts.kernel;
  const Cursor& cursor = walked_cursor(site);
  const Positions positions = walked_positions(site, out);
  const Expr at = out.declare(concat(cursor.access->tensor, "_p", cursor.level), positions.begin);
  Emitter body = out.nested();
  const Expr first = body.snapshot("first", at);
  const Expr coordinate =
      body.let(site.loop.var, kernel.level_code(cursor).coordinate(first, positions));
  const Expr next = run_end(kernel, cursor, first, positions, coordinate, body);
  const Expr end = body.snapshot("segment_end", next);
  site.parts.entering.enter(
      {site.loop, coordinate, site.walked, {{*site.walked.begin(), {first, end}}}},
      scope_of_walk(site), body);
  body.assign(at, end);
  out.add(loop::While::make(at < positions.end, body.take()));
}

}  // namespace tulle::lower
