// The one level of a tracked workspace: values at every coordinate, and a list of those written, read in ascending order.
#pragma once

#include "lower/levels/level_code.h"

namespace tulle::lower {

// The arrays and the counter of a tracked workspace over one variable.
struct TrackedArrays {
  loop::Buffer values;   // zero where nothing was written
  loop::Buffer written;  // bool
  loop::Buffer list;     // the coordinates written, one slot more than the extent
  loop::Expr count;      // mutable
};

class TrackedLevel : public LevelCode {
 public:
  // Without `in_order` (when only counting) the list is left unsorted.
  TrackedLevel(TrackedArrays arrays, bool in_order) : arrays_(std::move(arrays)), in_order_(in_order) {}

  void prepare(Emitter& out) const override;
  Positions positions(Emitter& out, const Positions& parent) const override;
  loop::Expr coordinate(const loop::Expr& position) const override;
  loop::Expr child(const loop::Expr& position) const override;
  void leave(Emitter& out, const loop::Expr& position) const override;
  bool is_ordered() const override { return true; }

 private:
  TrackedArrays arrays_;
  bool in_order_;
};

// Adds `value` at a coordinate and notes it in the list without a branch.
void add_tracked(Emitter& out, const TrackedArrays& arrays, const loop::Expr& coordinate, const loop::Expr& sum);

}  // namespace tulle::lower
