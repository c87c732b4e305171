// Code of ragged levels.
#include "lower/levels/ragged.h"

#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Cast;
using loop::Expr;
using loop::IntConst;
using loop::Load;

Positions RaggedLevel::positions(Emitter& out, const Positions& parent, const Expr&) const {
  TULLE_CHECK(parent.is_single(), "a ragged level below a segment");
  const Expr begin = out.let("p", Cast::make(DType::Int64, Load::make(pos_, parent.begin)));
  const Expr end = out.let("p_end", Cast::make(DType::Int64, Load::make(pos_, parent.begin + 1)));
  return {begin, end, begin};
}

Expr RaggedLevel::coordinate(const Expr& position, const Positions& run) const {
  return position - run.base;
}

LevelCode::Found RaggedLevel::find(Emitter& out, const Positions& run,
                                   const Expr& coordinate) const {
  const Expr at = out.let("at", run.base + coordinate);
  return {at, mutant("ragged-found-past-end") ? at <= run.end : at < run.end};
}

Expr RaggedLevel::slot(const Expr&, const Expr& begin, const Expr&, const Expr& coordinate) const {
  return begin + coordinate;
}

void RaggedLevel::finish(Emitter& out, const Expr& parent, const Expr& next) const {
  out.store(pos_, parent + 1, Cast::make(pos_->element, next));
}

void RaggedLevel::open(Emitter& out) const {
  out.store(pos_, IntConst::make(0), IntConst::make(0, loop::Type{pos_->element, 1}));
}

}  // namespace tulle::lower
