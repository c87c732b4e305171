// Code of padded levels.
#include "lower/levels/padded.h"

#include "lower/levels/unused.h"
#include "support/check.h"

namespace tulle::lower {

using loop::Cast;
using loop::Expr;

Positions PaddedLevel::positions(Emitter& out, const Positions& parent, const Expr&) const {
  TULLE_CHECK(parent.is_single(), "a padded level below a segment");
  const Expr begin = out.let("p", parent.begin * width_);
  return {begin, emit_used_end(out, crd_, begin, width_)};
}

Expr PaddedLevel::coordinate(const Expr& position, const Positions&) const {
  return Cast::make(DType::Int64, loop::Load::make(crd_, position));
}

Expr PaddedLevel::row_begin(const Expr& parent, const Expr&) const { return parent * width_; }

void PaddedLevel::insert(Emitter& out, const Expr& position, const Expr& coordinate) const {
  out.store(crd_, position, Cast::make(crd_->element, coordinate));
}

void PaddedLevel::finish(Emitter& out, const Expr& parent, const Expr& next) const {
  mark_unused(out, crd_, next, parent * width_ + width_);
}

}  // namespace tulle::lower
