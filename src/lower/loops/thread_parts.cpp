// Tuples of threads.
#include "lower/loops/thread_parts.h"

#include "nest/bound_loops.h"

namespace tulle::lower {

bool combines_tuples(const LoopSite& site) {
  const nest::Nest& nest = site.parts.kernel.nest;
  return nest::combines(site.loop, nest) && nest::merges_tuples(site.loop, nest);
}

void store_if(const loop::Expr& condition, Storing& storing) {
  storing.condition = storing.condition ? loop::both(storing.condition, condition) : condition;
}

}  // namespace tulle::lower
