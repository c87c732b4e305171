// Uses the current entry of a loop over entries.
#include "lower/loops/entry_at_hand.h"

#include "lower/loops/operand_walk.h"

namespace tulle::lower {

bool EntryAtHand::applies(const LoopSite& site) const {
  return site.walked.size() == 1 &&
         site.scope.entries.at_hand.contains(walked_cursor(site).access->tensor);
}

void EntryAtHand::lower(const LoopSite& site, Emitter& out) const {
  const Cursor& cursor = walked_cursor(site);
  const LevelCode& level = site.parts.kernel.level_code(cursor);
  level.prepare(out);
  const loop::Expr& entry = site.scope.entries.at_hand.at(cursor.access->tensor);
  const Positions here{level.child(entry), {}};
  const loop::Expr coordinate = out.let(site.loop.var, level.coordinate(entry, here));
  site.parts.entering.enter({site.loop, coordinate, site.walked, {{*site.walked.begin(), here}}},
                            scope_of_walk(site), out);
}

}  // namespace tulle::lower
