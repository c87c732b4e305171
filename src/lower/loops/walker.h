// One of several operands that a loop walks over together.
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
  loop::Expr reached = {};  // its position has the merged coordinate
  loop::Expr here = {};     // and has an entry
  loop::Expr next = {};     // the position after that
};

// Starts to walk over the access's current level, within these coordinates. A null end means the
// end of the level.
Walker start_walker(const KernelContext& kernel, int id, const KernelScope& scope,
                    const LoopBounds& coordinates, Emitter& out);

// The walker's entry: a position, or a run of equal coordinates.
Positions entry_of(const Walker& walker);
// The entries of the point's walkers.
std::map<int, Positions> entries_of(const AccessSet& point, const std::vector<Walker>& walkers);
// The entries of all walkers, which may have one: at position 0 if they have none. Sets the
// conditions in the scope.
std::map<int, Positions> possible_entries(const std::vector<Walker>& walkers, KernelScope& scope,
                                          Emitter& out);
// Sets `reached`, `here` and `next` of each walker for a coordinate that no walker has passed.
void look_for(const loop::Expr& coordinate, std::vector<Walker>& walkers, Emitter& out);
// Whether all walkers of the point have an entry.
loop::Expr all_here(const AccessSet& point, const std::vector<Walker>& walkers);
// Advances the walkers that have reached the coordinate.
void step_past(const std::vector<Walker>& walkers, Emitter& out);

}  // namespace tulle::lower
