// Runs the outermost loop on all threads.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Cuts the outermost loop, which must be over `loop`, into chunks of equal rows, or of equal rows
// plus entries: as near to that as whole rows come, or by merge exactly, wherever in a row that is,
// so that a row of most entries is shared by all threads. What threads gather of one row is put
// together by a second kernel, always in the same order. Refused where two iterations would write
// one location; by entries, where no operand stores entries right below it; by merge, as
// merged_rows.h says.
Result<nest::Nest> parallel(const nest::Nest& nest, const Parallel& step);

}  // namespace tulle::schedule
