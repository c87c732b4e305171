// Identities and operations of monoids.
#include "lower/monoid.h"

#include <cstdint>
#include <limits>

#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using nest::Monoid;

namespace {

Expr extreme(loop::Type type, bool highest) {
  if (type.is_bool()) return loop::IntConst::make(highest ? 1 : 0, type);
  if (type.is_float()) {
    const double infinity = std::numeric_limits<double>::infinity();
    return loop::FloatConst::make(highest ? infinity : -infinity, type);
  }
  const bool wide = type.scalar == DType::Int64;
  const int64_t lowest = wide ? INT64_MIN : INT32_MIN, greatest = wide ? INT64_MAX : INT32_MAX;
  return loop::IntConst::make(highest ? greatest : lowest, type);
}

}  // namespace

Expr identity_of(nest::Accumulate accumulate, loop::Type type) {
  if (!accumulate || mutant("monoid-starts-at-zero")) return loop::constant(type, 0);
  switch (*accumulate) {
    case Monoid::Sum:
    case Monoid::Scaled:
      return loop::constant(type, 0);
    case Monoid::Pick:
      return loop::constant(type, -1);
    case Monoid::Prod:
      return loop::constant(type, 1);
    case Monoid::Max:
      return extreme(type, false);
    case Monoid::Min:
      return extreme(type, true);
  }
  internal_error("unknown monoid");
}

Expr combine(Monoid monoid, const Expr& old, const Expr& term) {
  const bool logical = old.type().is_bool();
  switch (monoid) {
    case Monoid::Sum:
      return Binary::make(logical ? BinaryOp::Or : BinaryOp::Add, old, term);
    case Monoid::Prod:
      return Binary::make(logical ? BinaryOp::And : BinaryOp::Mul, old, term);
    case Monoid::Max:
      return Binary::make(logical ? BinaryOp::Or : BinaryOp::Max, old, term);
    case Monoid::Min:
      return Binary::make(logical ? BinaryOp::And : BinaryOp::Min, old, term);
    case Monoid::Pick:
    case Monoid::Scaled:
      break;  // these need a lead
  }
  internal_error("unknown monoid");
}

loop::ReduceOp reduction_of(Monoid monoid, const loop::Type& type) {
  using loop::ReduceOp;
  switch (monoid) {
    case Monoid::Sum:
      return type.is_bool() ? ReduceOp::Or : ReduceOp::Add;
    case Monoid::Prod:
      return type.is_bool() ? ReduceOp::And : ReduceOp::Mul;
    case Monoid::Max:
      return type.is_bool() ? ReduceOp::Or : ReduceOp::Max;
    case Monoid::Min:
      return type.is_bool() ? ReduceOp::And : ReduceOp::Min;
    case Monoid::Pick:
    case Monoid::Scaled:
      break;  // these need a lead
  }
  internal_error("partial results combine by '", nest::text_of(monoid), "'");
}

Lead lead_with(Emitter& out, Monoid monoid, const Expr& before, const Expr& given) {
  const Expr old = out.snapshot("old", before);
  const Expr term = out.let("term", given);
  Lead lead;
  lead.next = out.let("next", combine(monoid, old, term));
  const Expr larger = monoid == Monoid::Max ? old < term : term < old;
  const bool is_float = term.type().is_float();
  // The first NaN stays.
  const Expr unordered = loop::both(term != term, old == old);
  lead.is_better =
      out.let("is_better", is_float ? Binary::make(BinaryOp::Or, larger, unordered) : larger);
  const Expr both_nan = loop::both(term != term, old != old);
  lead.is_as_good = out.let(
      "is_as_good", is_float ? Binary::make(BinaryOp::Or, term == old, both_nan) : term == old);
  if (!is_float) return lead;
  // One of the two equals the new best, so its distance is 0, even for infinities.
  const Expr one = loop::constant(term.type(), 1);
  const Expr worse = combine(monoid == Monoid::Max ? Monoid::Min : Monoid::Max, old, term);
  const Expr less = out.let("less", loop::Call::make(loop::Function::Decay, {worse - lead.next}));
  auto distance = [&](const Expr& x) { return loop::Select::make(x == lead.next, one, less); };
  lead.shrink = out.let("shrink", mutant("lead-never-shrinks") ? one : distance(old));
  lead.weight = out.let("weight", distance(term));
  return lead;
}

Expr follow(const Lead& lead, Monoid monoid, const Expr& old, const Expr& term) {
  if (monoid == Monoid::Scaled) {
    const auto cast = [&](const Expr& x) { return loop::Cast::make(old.type().scalar, x); };
    return old * cast(lead.shrink) + cast(lead.weight) * term;
  }
  // Equal values keep the lowest coordinate, in any order of terms.
  const Expr none = loop::constant(old.type(), 0);
  const Expr lower = loop::both(lead.is_as_good, loop::both(none <= term, term < old));
  const Expr taken = Binary::make(BinaryOp::Or, lead.is_better, old < none);
  return loop::Select::make(Binary::make(BinaryOp::Or, taken, lower), term, old);
}

}  // namespace tulle::lower
