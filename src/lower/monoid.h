// The code of monoids.
#pragma once

#include "lower/emitter.h"
#include "nest/monoid.h"

namespace tulle::lower {

// The identity of the accumulation. 0 if values are assigned.
loop::Expr identity_of(nest::Accumulate accumulate, loop::Type type);
// The value after another term, for a monoid without a lead.
loop::Expr combine(nest::Monoid monoid, const loop::Expr& old, const loop::Expr& term);
// The operation that combines partial results of the monoid.
loop::ReduceOp reduction_of(nest::Monoid monoid, const loop::Type& type);

// The effect of a lead's last term, for the other workspaces of the tuple.
struct Lead {
  loop::Expr next;        // the new value of the lead
  loop::Expr is_better;   // whether the term is the new best
  loop::Expr is_as_good;  // whether the term equals the old best
  loop::Expr shrink;      // exp(old value - new value)
  loop::Expr weight;      // exp(term - new value)
};
Lead lead_with(Emitter& out, nest::Monoid monoid, const loop::Expr& old, const loop::Expr& term);
// The new value of a workspace with that lead. `term` belongs to the lead's last term.
loop::Expr follow(const Lead& lead, nest::Monoid monoid, const loop::Expr& old,
                  const loop::Expr& term);

}  // namespace tulle::lower
