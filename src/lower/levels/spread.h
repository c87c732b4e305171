// A level of a workspace whose coordinates are distributed over the threads of a block. Each thread
// keeps its own coordinate.
#pragma once

#include "lower/levels/dense.h"

namespace tulle::lower {

class SpreadLevel : public DenseLevel {
 public:
  SpreadLevel() : DenseLevel(loop::IntConst::make(1)) {}

  loop::Expr locate(const loop::Expr& parent, const loop::Expr&) const override { return parent; }
};

}  // namespace tulle::lower
