// Bind: the tag of a loop that runs on a part of a GPU.
#include "schedule/rewrites/bind.h"

#include "schedule/queries.h"

namespace tulle::schedule {

Result<Nest> bind(const Nest& nest, const Bind& step) {
  TULLE_TRY(require_loop(nest, step.loop));
  TULLE_TRY(require_untagged(nest, step.loop, "bind"));
  return with_tag(nest, {.kind = step.part, .by_atomics = step.by_atomics},
                  [&](const Forall& loop) { return loop.var == step.loop; });
}

}  // namespace tulle::schedule
