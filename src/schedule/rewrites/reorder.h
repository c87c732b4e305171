// Changes the order of loops.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Puts the loops named into the places that they hold now, in the order given, in every chain of
// directly nested loops that has all of them. Refused where no chain has all, where an assignment
// below overwrites across the loops, and where a parallel loop would not stay outermost or a
// vectorised one innermost.
Result<nest::Nest> reorder(const nest::Nest& nest, const Reorder& step);

}  // namespace tulle::schedule
