// Bind: the tag of a loop that runs on a part of a GPU.
#include "schedule/rewrites/bind.h"

#include "schedule/queries.h"

namespace tulle::schedule {

Nest bind(const Nest& nest, const std::string& var, LoopTag::Kind part, bool by_atomics) {
  require_loop(nest, var);
  require_untagged(nest, var, "bind");
  return with_tag(nest, {.kind = part, .by_atomics = by_atomics},
                  [&](const Forall& loop) { return loop.var == var; });
}

}  // namespace tulle::schedule
