// Code of compressed levels.
#include "lower/levels/compressed.h"

#include "lower/levels/unused.h"

namespace tulle::lower {

using loop::Cast;
using loop::Expr;
using loop::IntConst;
using loop::Load;

Positions CompressedLevel::positions(Emitter& out, const Positions& parent, const Expr&) const {
  // A segment of parents contains the consecutive runs of all of them.
  const Expr last = parent.is_single() ? parent.begin : parent.end - 1;
  const Expr begin = out.let("p", Cast::make(DType::Int64, Load::make(pos_, parent.begin)));
  const Expr end = out.let("p_end", Cast::make(DType::Int64, Load::make(pos_, last + 1)));
  return used(out, {begin, end});
}

Positions CompressedLevel::used(Emitter& out, const Positions& run) const {
  if (multiple_ == 1) return run;
  // Unused slots are last, and there are fewer than `multiple_`.
  const Expr from = loop::maximum(run.begin, run.end - multiple_);
  return {run.begin, emit_used_end(out, crd_, from, run.end)};
}

Expr CompressedLevel::coordinate(const Expr& position, const Positions&) const {
  return Cast::make(DType::Int64, Load::make(crd_, position));
}

void CompressedLevel::insert(Emitter& out, const Expr& position, const Expr& coordinate) const {
  out.store(crd_, position, Cast::make(crd_->element, coordinate));
}

Expr CompressedLevel::row_end(const Expr& next) const {
  return multiple_ == 1 ? next : loop::ceil_divide(next, multiple_) * multiple_;
}

void CompressedLevel::finish(Emitter& out, const Expr& parent, const Expr& next) const {
  const Expr end = multiple_ == 1 ? next : out.let("row_end", row_end(next));
  if (multiple_ > 1) mark_unused(out, crd_, next, end);
  out.store(pos_, parent + 1, Cast::make(pos_->element, end));
}

void CompressedLevel::open(Emitter& out) const {
  out.store(pos_, IntConst::make(0), IntConst::make(0, loop::Type{pos_->element, 1}));
}

}  // namespace tulle::lower
