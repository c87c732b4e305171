// A level of a workspace whose coordinates are spread over the threads of a block: each keeps the
// one that is its own.
#pragma once

#include "lower/levels/dense.h"

namespace tulle::lower {

class SpreadLevel : public DenseLevel {
 public:
  SpreadLevel() : DenseLevel(loop::IntConst::make(1)) {}

  loop::Expr locate(const loop::Expr& parent, const loop::Expr&) const override { return parent; }
};

}  // namespace tulle::lower
