// Code of dense levels.
#include "lower/levels/dense.h"

#include "support/check.h"

namespace tulle::lower {

using loop::Expr;

Positions DenseLevel::positions(Emitter& out, const Positions& parent, const Expr&) const {
  TULLE_CHECK(parent.is_single(), "a dense level below a segment");
  const Expr begin = out.let("p", parent.begin * extent_);
  return {begin, out.let("p_end", begin + extent_), begin};
}

Expr DenseLevel::coordinate(const Expr& position, const Positions& run) const {
  return position - run.base;
}

Expr DenseLevel::locate(const Expr& parent, const Expr& coordinate) const {
  return parent * extent_ + coordinate;
}

}  // namespace tulle::lower
