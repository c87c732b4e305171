// Code shared by the kinds of loops over one operand's entries.
#pragma once

#include "lower/loops/loop_site.h"

namespace tulle::lower {

// The cursor of the only walked access.
const Cursor& walked_cursor(const LoopSite& site);
// The scope inside. Entries there are conditional unless the result shares the operand's structure.
KernelScope scope_of_walk(const LoopSite& site);
// The positions that the loop visits. If the loop is cut, those of the current chunk.
Positions walked_positions(const LoopSite& site, Emitter& out);

}  // namespace tulle::lower
