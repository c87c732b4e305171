// Searching among the positions of a level.
#pragma once

#include <functional>

#include "lower/levels/level_code.h"

namespace tulle::lower {

// Searches [run.begin, run.end). In an ordered run, finds the first position whose coordinate is at
// least `coordinate`. In an unordered run, finds the position of `coordinate`, or the end.
loop::Expr emit_lower_bound(Emitter& out, const LevelCode& level, const Positions& run,
                            const loop::Expr& coordinate);
// The end of the run of equal coordinates that starts at `begin`.
loop::Expr emit_segment_end(Emitter& out, const LevelCode& level, const loop::Expr& begin,
                            const Positions& run, const loop::Expr& coordinate);

// The same by bisection, for long runs in ordered levels, because loads of a GPU have a long
// latency.
loop::Expr emit_segment_end_by_halves(Emitter& out, const LevelCode& level, const loop::Expr& begin,
                                      const Positions& run, const loop::Expr& coordinate);

// The first number in [0, count) whose key is at least `wanted`, or count. Keys ascend.
loop::Expr emit_first_by_halves(Emitter& out, const loop::Expr& count,
                                const std::function<loop::Expr(const loop::Expr&)>& key,
                                const loop::Expr& wanted, const std::string& name = "first");
// The same with seven independent loads per step. It takes a third of the steps of bisection.
loop::Expr emit_first_by_eighths(Emitter& out, const loop::Expr& count,
                                 const std::function<loop::Expr(const loop::Expr&)>& key,
                                 const loop::Expr& wanted);

}  // namespace tulle::lower
