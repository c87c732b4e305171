// Code of range levels.
#include "lower/levels/range.h"

#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

Positions RangeLevel::positions(Emitter& out, const Positions& parent, const Expr& above) const {
  TULLE_CHECK(parent.is_single() && above, "a range level below a segment");
  const Expr base = out.let("p_base", parent.begin * extent_);
  const Expr zero = IntConst::make(0);
  const Expr first = out.let("first", loop::maximum(zero, zero - above));
  const Expr last = loop::maximum(first, loop::minimum(extent_, second_ - above));
  const Expr end = mutant("range-ends-early") ? loop::maximum(first, last - 1) : last;
  return {out.let("p", base + first), out.let("p_end", base + end), base};
}

Expr RangeLevel::coordinate(const Expr& position, const Positions& run) const {
  return position - run.base;
}

Expr RangeLevel::locate(const Expr& parent, const Expr& coordinate) const {
  return parent * extent_ + coordinate;
}

LevelCode::Found RangeLevel::find(Emitter& out, const Positions& run,
                                  const Expr& coordinate) const {
  const Expr at = out.let("at", run.base + coordinate);
  return {at, loop::both(run.begin <= at, at < run.end)};
}

}  // namespace tulle::lower
