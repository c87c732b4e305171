// One of several operands that are walked over together.
#pragma once

#include <map>
#include <vector>

#include "lower/kernel_context.h"
#include "lower/lattice.h"
#include "lower/loops/loop_bounds.h"

namespace tulle::lower {

struct Walker {
  int id;
  const LevelCode* level;
  loop::Expr at;  // mutable
  Positions run;
  loop::Expr reached = {};  // whether its position has the merged coordinate
  loop::Expr here = {};     // and holds an entry
  loop::Expr next = {};     // the position after that
};

// Begins to walk over the level that the access has come to, within these coordinates; where an end
// of them is null, to the end of the level.
Walker start_walker(const KernelContext& kernel, int id, const KernelScope& scope,
                    const LoopBounds& coordinates, Emitter& out);

// The walker's entry: a position, or a run of equal coordinates.
Positions entry_of(const Walker& walker);
// The entries of those walkers that the point has.
std::map<int, Positions> entries_of(const AccessSet& point, const std::vector<Walker>& walkers);
// Sets `reached`, `here` and `next` of each walker for a coordinate that no walker has passed.
void look_for(const loop::Expr& coordinate, std::vector<Walker>& walkers, Emitter& out);
// Whether all walkers of the point have an entry.
loop::Expr all_here(const AccessSet& point, const std::vector<Walker>& walkers);
// Advances the walkers that have reached the coordinate.
void step_past(const std::vector<Walker>& walkers, Emitter& out);

}  // namespace tulle::lower
