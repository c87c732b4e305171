// What kinds of loops over the entries of one operand have in common.
#pragma once

#include "lower/loops/loop_site.h"

namespace tulle::lower {

// The cursor of the one access that is walked over.
const Cursor& walked_cursor(const LoopSite& site);
// The scope inside: the point is missed unless the result has the operand's structure.
KernelScope scope_of_walk(const LoopSite& site);
// The positions that the loop visits: of the chunk at hand, where the loop is cut.
Positions walked_positions(const LoopSite& site, Emitter& out);

}  // namespace tulle::lower
