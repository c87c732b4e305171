// Checks loops over the diagonals that operands store.
#pragma once

#include "nest/nest.h"
#include "support/result.h"

namespace tulle::schedule {

// Refuses unless loops over differences are inside the loops over all levels above them. Loops
// visit diagonals in storage order; there is no search for a diagonal.
Result<> require_walkable_diagonals(const nest::Nest& nest);

}  // namespace tulle::schedule
