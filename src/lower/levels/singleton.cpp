// Code of singleton levels.
#include "lower/levels/singleton.h"

namespace tulle::lower {

using loop::Expr;

Positions SingletonLevel::positions(Emitter&, const Positions& parent, const Expr&) const {
  return parent.is_single() ? Positions{parent.begin, parent.begin + 1} : parent;
}

Expr SingletonLevel::coordinate(const Expr& position, const Positions&) const {
  return loop::Cast::make(DType::Int64, loop::Load::make(crd_, position));
}

void SingletonLevel::insert(Emitter& out, const Expr& position, const Expr& coordinate) const {
  out.store(crd_, position, loop::Cast::make(crd_->element, coordinate));
}

}  // namespace tulle::lower
