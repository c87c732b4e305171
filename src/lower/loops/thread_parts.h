// Code shared by the loops in which threads combine their parts.
#pragma once

#include "lower/loops/loop_site.h"

namespace tulle::lower {

// Whether the threads of a block merge their tuples in the loop.
bool combines_tuples(const LoopSite& site);
// Restricts stores of results to threads for which the condition holds.
void store_if(const loop::Expr& condition, Storing& storing);

}  // namespace tulle::lower
