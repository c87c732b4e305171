// A level with one coordinate per position of its parent: the later levels of COO.
#pragma once

#include "lower/levels/level_code.h"

namespace tulle::lower {

class SingletonLevel : public LevelCode {
 public:
  SingletonLevel(const Level& level, const LevelArrays& arrays)
      : unique_(level.unique), ordered_(level.ordered), crd_(arrays.crd) {}

  bool is_unique() const override { return unique_; }
  bool is_ordered() const override { return ordered_; }
  Positions positions(Emitter& out, const Positions& parent,
                      const loop::Expr& above) const override;
  loop::Expr coordinate(const loop::Expr& position, const Positions& run) const override;
  loop::Buffer coordinates() const override { return crd_; }

  void insert(Emitter& out, const loop::Expr& position,
              const loop::Expr& coordinate) const override;

 private:
  bool unique_, ordered_;
  loop::Buffer crd_;
};

}  // namespace tulle::lower
