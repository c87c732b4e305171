// A level with the same number of slots for each parent. The last slots may be unused and are
// marked.
#pragma once

#include "lower/levels/level_code.h"

namespace tulle::lower {

class PaddedLevel : public LevelCode {
 public:
  PaddedLevel(const Level& level, const LevelArrays& arrays)
      : unique_(level.unique), ordered_(level.ordered), width_(level.width), crd_(arrays.crd) {}

  bool is_unique() const override { return unique_; }
  bool is_ordered() const override { return ordered_; }
  Positions positions(Emitter& out, const Positions& parent,
                      const loop::Expr& above) const override;
  loop::Expr coordinate(const loop::Expr& position, const Positions& run) const override;

  bool needs_row() const override { return true; }
  loop::Expr row_begin(const loop::Expr& parent, const loop::Expr& next) const override;
  int64_t most_entries() const override { return width_; }
  void insert(Emitter& out, const loop::Expr& position,
              const loop::Expr& coordinate) const override;
  void finish(Emitter& out, const loop::Expr& parent, const loop::Expr& next) const override;

 private:
  bool unique_, ordered_;
  int64_t width_;
  loop::Buffer crd_;
};

}  // namespace tulle::lower
