// A level of rows with different lengths. Each row holds the coordinates from 0 to its length.
#pragma once

#include "lower/levels/level_code.h"

namespace tulle::lower {

class RaggedLevel : public LevelCode {
 public:
  RaggedLevel(const Level&, const LevelArrays& arrays) : pos_(arrays.pos) {}

  Positions positions(Emitter& out, const Positions& parent,
                      const loop::Expr& above) const override;
  loop::Expr coordinate(const loop::Expr& position, const Positions& run) const override;
  bool finds_by_arithmetic() const override { return true; }
  Found find(Emitter& out, const Positions& run, const loop::Expr& coordinate) const override;
  loop::Buffer positions_buffer() const override { return pos_; }

  bool needs_row() const override { return true; }
  loop::Expr slot(const loop::Expr& parent, const loop::Expr& begin, const loop::Expr& next,
                  const loop::Expr& coordinate) const override;
  bool counts_entries() const override { return false; }
  void finish(Emitter& out, const loop::Expr& parent, const loop::Expr& next) const override;
  void open(Emitter& out) const override;

 private:
  loop::Buffer pos_;
};

}  // namespace tulle::lower
