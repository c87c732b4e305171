// A level that stores nothing: position = parent * extent + coordinate.
#pragma once

#include "lower/levels/level_code.h"

namespace tulle::lower {

class DenseLevel : public LevelCode {
 public:
  explicit DenseLevel(loop::Expr extent) : extent_(std::move(extent)) {}
  DenseLevel(const Level&, const LevelArrays& arrays) : DenseLevel(arrays.extent) {}

  bool is_full() const override { return true; }
  bool is_direct() const override { return true; }
  Positions positions(Emitter& out, const Positions& parent,
                      const loop::Expr& above) const override;
  loop::Expr coordinate(const loop::Expr& position, const Positions& run) const override;
  loop::Expr locate(const loop::Expr& parent, const loop::Expr& coordinate) const override;

 private:
  loop::Expr extent_;
};

}  // namespace tulle::lower
