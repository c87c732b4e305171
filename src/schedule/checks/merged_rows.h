// Checks on rows that are cut into chunks of equal work.
#pragma once

#include "nest/nest.h"
#include "support/result.h"

namespace tulle::schedule {

// Refuses unless pieces of a row can be computed separately where parallel(by=merge) cuts the
// outermost loop. An operand stores the entries of rows along a loop, and all results of a row
// depend on these. Each result is stored once for each entry, or gathered in workspaces that pieces
// of a row fill separately and a second kernel merges. The loop over rows contains nothing else.
Result<> require_mergeable_rows(const nest::Nest& nest);

}  // namespace tulle::schedule
