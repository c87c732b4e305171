// Bind: the tag of a loop that runs on a part of a GPU.
#include "schedule/bind.h"

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

Nest bind(const Nest& nest, const std::string& var, LoopTag::Kind part, bool by_atomics) {
  require_loop(nest, var);
  require_untagged(nest, var, "bind");
  if (by_atomics && part != LoopTag::Kind::Block) {
    user_error("sums=atomics is for blocks, which have nothing else in common; ",
               nest::bound_name(part), "s combine parts of their own: rfactor(", var, ", part).");
  }
  return with_tag(nest, {.kind = part, .by_atomics = by_atomics},
                  [&](const Forall& loop) { return loop.var == var; });
}

}  // namespace tulle::schedule
