// Omits a loop.
#include "lower/loops/no_loop.h"

namespace tulle::lower {

bool NoLoop::applies(const LoopSite& site) const { return site.walked.empty(); }

void NoLoop::lower(const LoopSite& site, Emitter&) const {
  site.parts.kernel.facts.needs_zeros = true;
}

}  // namespace tulle::lower
