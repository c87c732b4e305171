// Whether the loops build a sparse result in the order it is stored in.
#pragma once

#include "nest/nest.h"

namespace tulle::schedule {

// Entries of a result with a pattern of its own are appended as the loops come to them: the loops
// over its levels must stand outside all others, in the order of the levels. UserError if not.
void require_result_order(const nest::Nest& nest);

}  // namespace tulle::schedule
