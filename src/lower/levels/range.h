// A level with a slot for every coordinate. Entries are between the bounds at which the diagonal
// above enters and leaves the tensor.
#pragma once

#include "lower/levels/level_code.h"

namespace tulle::lower {

class RangeLevel : public LevelCode {
 public:
  RangeLevel(const Level&, const LevelArrays& arrays)
      : extent_(arrays.extent), second_(arrays.second) {}

  Positions positions(Emitter& out, const Positions& parent,
                      const loop::Expr& above) const override;
  loop::Expr coordinate(const loop::Expr& position, const Positions& run) const override;
  bool is_direct() const override { return true; }
  loop::Expr locate(const loop::Expr& parent, const loop::Expr& coordinate) const override;
  bool finds_by_arithmetic() const override { return true; }
  Found find(Emitter& out, const Positions& run, const loop::Expr& coordinate) const override;

 private:
  loop::Expr extent_, second_;
};

}  // namespace tulle::lower
