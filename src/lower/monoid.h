// The code of monoids.
#pragma once

#include "lower/emitter.h"
#include "nest/monoid.h"

namespace tulle::lower {

// What changes nothing under the accumulation; 0 where a value is assigned.
loop::Expr identity_of(nest::Accumulate accumulate, loop::Type type);
// What stands there after a further term; of a monoid without a lead.
loop::Expr combine(nest::Monoid monoid, const loop::Expr& old, const loop::Expr& term);
// The operation by which partial results of such a monoid combine.
loop::ReduceOp reduction_of(nest::Monoid monoid, const loop::Type& type);

// What a lead's last term did, for the workspaces that go with it.
struct Lead {
  loop::Expr next;        // its value now
  loop::Expr is_better;   // whether the term is its new best
  loop::Expr is_as_good;  // whether it is as good as the old one
  loop::Expr shrink;      // exp(its value before - its value now)
  loop::Expr weight;      // exp(the term - its value now)
};
Lead lead_with(Emitter& out, nest::Monoid monoid, const loop::Expr& old, const loop::Expr& term);
// What stands in a workspace with that lead after the term that came with the lead's.
loop::Expr follow(const Lead& lead, nest::Monoid monoid, const loop::Expr& old,
                  const loop::Expr& term);

}  // namespace tulle::lower
