// One of several operands that are walked over together.
#pragma once

#include <map>
#include <vector>

#include "lower/lattice.h"
#include "lower/levels/level_code.h"

namespace tulle::lower {

struct Walker {
  int id;
  const LevelCode* level;
  loop::Expr at;  // mutable
  Positions run;
  loop::Expr reached = {};  // whether it stands at the coordinate
  loop::Expr here = {};     // and has an entry there
  loop::Expr next = {};     // the position after that
};

// The entry that the walker stands at: a position, or a run of equal coordinates.
Positions entry_of(const Walker& walker);
// The entries of those walkers that the point has.
std::map<int, Positions> entries_of(const AccessSet& point, const std::vector<Walker>& walkers);
// Sets `here` and `next`: whether each walker stands at the coordinate, which it has not passed.
void look_for(const loop::Expr& coordinate, std::vector<Walker>& walkers, Emitter& out);
// Whether all walkers of the point have an entry.
loop::Expr all_here(const AccessSet& point, const std::vector<Walker>& walkers);
// Moves the walkers that stand at the coordinate on.
void step_past(const std::vector<Walker>& walkers, Emitter& out);

}  // namespace tulle::lower
