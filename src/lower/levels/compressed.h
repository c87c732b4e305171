// A level that stores the start of each parent's entries and the coordinate of each entry.
#pragma once

#include "lower/levels/level_code.h"

namespace tulle::lower {

class CompressedLevel : public LevelCode {
 public:
  CompressedLevel(const Level& level, const LevelArrays& arrays)
      : unique_(level.unique),
        ordered_(level.ordered),
        multiple_(level.multiple),
        pos_(arrays.pos),
        crd_(arrays.crd) {}

  bool is_unique() const override { return unique_; }
  bool is_ordered() const override { return ordered_; }
  Positions used(Emitter& out, const Positions& run) const override;
  Positions positions(Emitter& out, const Positions& parent,
                      const loop::Expr& above) const override;
  loop::Expr coordinate(const loop::Expr& position, const Positions& run) const override;
  loop::Buffer coordinates() const override { return multiple_ == 1 ? crd_ : nullptr; }
  loop::Buffer positions_buffer() const override { return pos_; }

  void insert(Emitter& out, const loop::Expr& position,
              const loop::Expr& coordinate) const override;
  loop::Expr row_end(const loop::Expr& next) const override;
  void finish(Emitter& out, const loop::Expr& parent, const loop::Expr& next) const override;
  void open(Emitter& out) const override;

 private:
  bool unique_, ordered_;
  int64_t multiple_;
  loop::Buffer pos_, crd_;
};

}  // namespace tulle::lower
