// What rows must be that are cut into chunks of equal work.
#pragma once

#include "nest/nest.h"

namespace tulle::schedule {

// UserError unless pieces of a row can be computed apart, where the outermost loop is cut by
// parallel(by=merge): an operand stores the entries of rows along a loop, all that the rows compute
// hangs on these, and it is stored once for each entry, or gathered in workspaces that pieces of a
// row fill apart and that are put together afterwards; these are all that stands in the loop over
// rows.
void require_mergeable_rows(const nest::Nest& nest);

}  // namespace tulle::schedule
