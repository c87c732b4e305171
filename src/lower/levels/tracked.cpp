// Code of tracked workspaces.
#include "lower/levels/tracked.h"

namespace tulle::lower {

using loop::Cast;
using loop::Expr;
using loop::IntConst;
using loop::Load;

void TrackedLevel::prepare(Emitter& out) const {
  if (!in_order_) return;
  out.add(loop::Invoke::make(loop::RuntimeFunction::Sort, arrays_.list, {IntConst::make(0), arrays_.count}));
}

Positions TrackedLevel::positions(Emitter& out, const Positions&) const {
  const Expr end = out.snapshot("w_end", arrays_.count);
  out.assign(arrays_.count, IntConst::make(0));  // ready for the next round
  return {IntConst::make(0), end};
}

Expr TrackedLevel::coordinate(const Expr& position) const {
  return Cast::make(DType::Int64, Load::make(arrays_.list, position));
}

Expr TrackedLevel::child(const Expr& position) const { return coordinate(position); }

void TrackedLevel::leave(Emitter& out, const Expr& position) const {
  const Expr at = out.let("w_at", coordinate(position));
  out.store(arrays_.values, at, loop::constant(loop::Type{arrays_.values->element, 1}, 0));
  out.store(arrays_.written, at, IntConst::make(0, loop::kBool));
}

void add_tracked(Emitter& out, const TrackedArrays& arrays, const Expr& coordinate, const Expr& sum) {
  out.store(arrays.list, arrays.count, Cast::make(arrays.list->element, coordinate));
  const Expr seen = out.let("seen", Load::make(arrays.written, coordinate));
  out.assign(arrays.count, arrays.count + loop::Select::make(seen, IntConst::make(0), IntConst::make(1)));
  out.store(arrays.written, coordinate, IntConst::make(1, loop::kBool));
  out.store(arrays.values, coordinate, sum);
}

}  // namespace tulle::lower
