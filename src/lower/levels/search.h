// Searching among the positions of a level.
#pragma once

#include <functional>

#include "lower/levels/level_code.h"

namespace tulle::lower {

// Where `coordinate` is among the ordered positions [run.begin, run.end): the first position not
// before it; in an unordered run, where it is, or the end.
loop::Expr emit_lower_bound(Emitter& out, const LevelCode& level, const Positions& run,
                            const loop::Expr& coordinate);
// The end of the run of equal coordinates that starts at `begin`.
loop::Expr emit_segment_end(Emitter& out, const LevelCode& level, const loop::Expr& begin,
                            const Positions& run, const loop::Expr& coordinate);

// The same by bisection, for long runs in ordered levels: loads of a GPU have a long latency.
loop::Expr emit_segment_end_by_halves(Emitter& out, const LevelCode& level, const loop::Expr& begin,
                                      const Positions& run, const loop::Expr& coordinate);

// The first number in [0, count) whose key, which ascends, is at least `wanted`; count if none is.
loop::Expr emit_first_by_halves(Emitter& out, const loop::Expr& count,
                                const std::function<loop::Expr(const loop::Expr&)>& key,
                                const loop::Expr& wanted, const std::string& name = "first");
// By eighths: loads that do not wait for each other, in a third of the steps that halving takes.
loop::Expr emit_first_by_eighths(Emitter& out, const loop::Expr& count,
                                 const std::function<loop::Expr(const loop::Expr&)>& key,
                                 const loop::Expr& wanted);

}  // namespace tulle::lower
