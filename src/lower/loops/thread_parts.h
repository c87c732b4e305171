// What loops in which threads combine their parts have in common.
#pragma once

#include "lower/loops/loop_site.h"

namespace tulle::lower {

// Whether the threads of a block merge tuples in the loop that each has gathered for itself.
bool combines_tuples(const LoopSite& site);
// Leaves results to those threads for which the condition holds.
void store_if(const loop::Expr& condition, Storing& storing);

}  // namespace tulle::lower
