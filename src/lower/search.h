// Searching among the positions of a level.
#pragma once

#include "lower/levels/level_code.h"

namespace tulle::lower {

// Where `coordinate` is among the ordered positions [run.begin, run.end): the first position not
// before it; in an unordered run, where it is, or the end.
loop::Expr emit_lower_bound(Emitter& out, const LevelCode& level, const Positions& run,
                            const loop::Expr& coordinate);
// The end of the run of equal coordinates that starts at `begin`.
loop::Expr emit_segment_end(Emitter& out, const LevelCode& level, const loop::Expr& begin,
                            const Positions& run, const loop::Expr& coordinate);

}  // namespace tulle::lower
