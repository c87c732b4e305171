// Loops over diagonals, which are those that operands store.
#pragma once

#include "nest/nest.h"
#include "support/result.h"

namespace tulle::schedule {

// Refuses unless loops over differences stand inside the loops over whatever operands store above
// them: diagonals are gone through as they are stored, and are not searched for.
Result<> require_walkable_diagonals(const nest::Nest& nest);

}  // namespace tulle::schedule
