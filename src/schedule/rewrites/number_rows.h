// Counts through the rows that an operand stores.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// The loop over `loop`, which walks over the coordinates that the first level of one operand
// stores, becomes one over their numbers: row number `row` is the coordinate stored there. Numbers
// have no gaps, so that split, fuse, bind, split_rows and the like take them as they take rows that
// are stored densely. Refused where no operand or more than one is walked over, where another of
// its levels is, where there is something to do without an entry of it, where rows without entries
// would change what they are put together with, and where a sparse result of its own is built.
Result<nest::Nest> number_rows(const nest::Nest& nest, const NumberRows& step);

}  // namespace tulle::schedule
