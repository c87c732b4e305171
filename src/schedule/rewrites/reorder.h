// Changes the order of loops.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Puts the named loops into the given order, at the places that they hold now, in every chain of
// directly nested loops that contains all of them. Refuses if no chain contains all, if an
// assignment below overwrites across the loops, and if a parallel loop would not stay outermost or
// a vectorised one innermost.
Result<nest::Nest> reorder(const nest::Nest& nest, const Reorder& step);

}  // namespace tulle::schedule
