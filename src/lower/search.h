// Searching among the positions of a level.
#pragma once

#include "lower/levels/level_code.h"

namespace tulle::lower {

// Where `coordinate` is among the ordered positions [range.begin, range.end): the first position
// not before it.
loop::Expr emit_lower_bound(Emitter& out, const LevelCode& level, const Positions& range,
                            const loop::Expr& coordinate);
// The end of the run of equal coordinates that starts at `begin`.
loop::Expr emit_segment_end(Emitter& out, const LevelCode& level, const loop::Expr& begin,
                            const loop::Expr& end, const loop::Expr& coordinate);

}  // namespace tulle::lower
