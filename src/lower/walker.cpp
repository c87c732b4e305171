// Walkers.
#include "lower/walker.h"

namespace tulle::lower {

using loop::Expr;

Positions entry_of(const Walker& walker) {
  if (walker.level->is_unique()) return {walker.level->child(walker.at), {}};
  return {walker.at, walker.next};
}

Expr all_here(const AccessSet& point, const std::vector<Walker>& walkers) {
  Expr condition = loop::IntConst::make(1, loop::kBool);
  for (const Walker& walker : walkers) {
    if (point.contains(walker.id)) condition = loop::both(condition, walker.here);
  }
  return condition;
}

void step_past(const std::vector<Walker>& walkers, Emitter& out) {
  for (const Walker& walker : walkers) {
    out.assign(walker.at, loop::Select::make(walker.here, walker.next, walker.at));
  }
}

}  // namespace tulle::lower
