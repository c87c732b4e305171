// Bind: the tag of a loop that runs on a part of a GPU.
#include "schedule/bind.h"

#include "schedule/queries.h"

namespace tulle::schedule {

Nest bind(const Nest& nest, const std::string& var, LoopTag::Kind part) {
  require_loop(nest, var);
  require_untagged(nest, var, "bind");
  return with_tag(nest, {.kind = part}, [&](const Forall& loop) { return loop.var == var; });
}

}  // namespace tulle::schedule
