// The tracked level of a workspace: a value or block at every coordinate, and a list of the written
// coordinates, read in ascending order.
#pragma once

#include "lower/levels/level_code.h"
#include "nest/monoid.h"

namespace tulle::lower {

// The arrays and counters of a tracked workspace. Its first variable is tracked. The others run
// through the block of each coordinate. A coordinate was written in this round if its stamp equals
// the round's number, so no array is cleared between rounds.
struct TrackedArrays {
  loop::Buffer values;  // null in the counting phase
  loop::Buffer stamps;  // i32, initially 0
  // The written coordinates, with one slot more than the extent. Null in the counting phase.
  loop::Buffer list;
  // The first position of each array. Null: 0.
  loop::Expr values_base, stamps_base, list_base;
  loop::Expr count;  // mutable: the number of coordinates written in this round
  loop::Expr round;  // i32, mutable
  loop::Expr block;  // the number of values per coordinate; null: 1
  // The number of all coordinates, if a scan at the end of a round finds the written ones. Null if
  // additions list them.
  loop::Expr scanned;

  bool only_counts() const { return !list; }
  bool lists_as_they_come() const { return !only_counts() && !scanned; }
  bool counts_as_they_come() const { return only_counts() || !scanned; }
};

class TrackedLevel : public LevelCode {
 public:
  explicit TrackedLevel(TrackedArrays arrays) : arrays_(std::move(arrays)) {}

  void prepare(Emitter& out) const override;
  Positions positions(Emitter& out, const Positions& parent,
                      const loop::Expr& above) const override;
  loop::Expr coordinate(const loop::Expr& position, const Positions& run) const override;
  loop::Expr child(const loop::Expr& position) const override;

 private:
  void list_written(Emitter& out) const;

  TrackedArrays arrays_;
};

// Starts a round, in which nothing is written yet.
void begin_round(Emitter& out, const TrackedArrays& arrays);

// Adds `value` at a coordinate and lists it, without branches.
void add_tracked(Emitter& out, const TrackedArrays& arrays, const loop::Expr& coordinate,
                 nest::Monoid monoid, const loop::Expr& value);

// The same for blocks. `begin_block` starts the block of a new coordinate and returns whether it is
// new. `end_block` lists the coordinate if something was added. Additions in between do not read
// stamps.
loop::Expr begin_block(Emitter& out, const TrackedArrays& arrays, const loop::Expr& coordinate,
                       const loop::Expr& identity);
void end_block(Emitter& out, const TrackedArrays& arrays, const loop::Expr& coordinate,
               const loop::Expr& is_new, const loop::Expr& written);

}  // namespace tulle::lower
