// The code of monoids.
#pragma once

#include "lower/emitter.h"
#include "nest/monoid.h"

namespace tulle::lower {

// The identity of the accumulation; 0 if a value is assigned.
loop::Expr identity_of(nest::Accumulate accumulate, loop::Type type);
// The value after another term, for a monoid without a lead.
loop::Expr combine(nest::Monoid monoid, const loop::Expr& old, const loop::Expr& term);
// The operation by which partial results of such a monoid combine.
loop::ReduceOp reduction_of(nest::Monoid monoid, const loop::Type& type);

// The effect of a lead's last term, for the other workspaces of the tuple.
struct Lead {
  loop::Expr next;        // its value now
  loop::Expr is_better;   // whether the term is its new best
  loop::Expr is_as_good;  // whether it is as good as the old one
  loop::Expr shrink;      // exp(its value before - its value now)
  loop::Expr weight;      // exp(the term - its value now)
};
Lead lead_with(Emitter& out, nest::Monoid monoid, const loop::Expr& old, const loop::Expr& term);
// The value of a workspace with that lead after the term that belongs to the lead's.
loop::Expr follow(const Lead& lead, nest::Monoid monoid, const loop::Expr& old,
                  const loop::Expr& term);

}  // namespace tulle::lower
