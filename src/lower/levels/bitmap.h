// A level with a slot for every coordinate and a byte per slot that marks entries.
#pragma once

#include "lower/levels/level_code.h"

namespace tulle::lower {

class BitmapLevel : public LevelCode {
 public:
  BitmapLevel(const Level&, const LevelArrays& arrays)
      : extent_(arrays.extent), marks_(arrays.crd) {}

  Positions positions(Emitter& out, const Positions& parent,
                      const loop::Expr& above) const override;
  loop::Expr coordinate(const loop::Expr& position, const Positions& run) const override;
  bool has_holes() const override { return true; }
  loop::Expr holds(const loop::Expr& position) const override;
  bool is_direct() const override { return true; }
  loop::Expr locate(const loop::Expr& parent, const loop::Expr& coordinate) const override;
  bool finds_by_arithmetic() const override { return true; }
  Found find(Emitter& out, const Positions& run, const loop::Expr& coordinate) const override;

  bool needs_row() const override { return true; }
  loop::Expr slot(const loop::Expr& parent, const loop::Expr& begin, const loop::Expr& next,
                  const loop::Expr& coordinate) const override;
  loop::Expr count(const loop::Expr& position, const loop::Expr& next) const override;
  bool finishes_rows() const override { return false; }
  void insert(Emitter& out, const loop::Expr& position,
              const loop::Expr& coordinate) const override;

 private:
  loop::Expr extent_;
  loop::Buffer marks_;
};

}  // namespace tulle::lower
