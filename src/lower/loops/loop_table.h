// All kinds of loops.
#pragma once

#include "lower/loops/loop_site.h"

namespace tulle::lower {

// Lowers the loop with the first kind that applies.
void lower_loop(LoopParts& parts, const nest::Forall& loop, const KernelScope& scope, Emitter& out);

}  // namespace tulle::lower
