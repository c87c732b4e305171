// Code of bitmap levels.
#include "lower/levels/bitmap.h"

#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;

Positions BitmapLevel::positions(Emitter& out, const Positions& parent, const Expr&) const {
  TULLE_CHECK(parent.is_single(), "a bitmap level below a segment");
  const Expr begin = out.let("p", parent.begin * extent_);
  return {begin, out.let("p_end", begin + extent_), begin};
}

Expr BitmapLevel::coordinate(const Expr& position, const Positions& run) const {
  return position - run.base;
}

Expr BitmapLevel::holds(const Expr& position) const {
  return mutant("bitmap-all-set") ? LevelCode::holds(position)
                                  : Expr(loop::Load::make(marks_, position));
}

Expr BitmapLevel::locate(const Expr& parent, const Expr& coordinate) const {
  return parent * extent_ + coordinate;
}

LevelCode::Found BitmapLevel::find(Emitter& out, const Positions& run,
                                   const Expr& coordinate) const {
  const Expr at = out.let("at", run.base + coordinate);
  return {at, out.let("found", loop::Load::make(marks_, at))};
}

Expr BitmapLevel::slot(const Expr& parent, const Expr&, const Expr&, const Expr& coordinate) const {
  return locate(parent, coordinate);
}

Expr BitmapLevel::count(const Expr&, const Expr& next) const { return next + 1; }

void BitmapLevel::insert(Emitter& out, const Expr& position, const Expr&) const {
  out.store(marks_, position, loop::IntConst::make(1, loop::kBool));
}

}  // namespace tulle::lower
