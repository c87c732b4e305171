// Counts the entries of an operand by subtraction.
#include "lower/loops/counted_entries.h"

#include "lower/loops/operand_walk.h"

namespace tulle::lower {

bool CountedEntries::applies(const LoopSite& site) const {
  if (site.walked.size() != 1) return false;
  const LevelCode& level = site.parts.kernel.level_code(walked_cursor(site));
  return level.is_unique() && !level.has_holes() && site.only_counts_visits();
}

void CountedEntries::lower(const LoopSite& site, Emitter& out) const {
  const Positions positions = walked_positions(site, out);
  site.parts.assembly.count(positions.end - positions.begin, out);
}

}  // namespace tulle::lower
