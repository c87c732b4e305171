// Cuts the rows of an operand into pieces that chunks process in turn.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Like split_rows, but cuts all rows into pieces of at most `length` entries. Adjacent pieces with
// an equal share of the work form a part. There are `parts` parts. The `turns` chunks of a part
// take its pieces in turn, so there are `parts` times `turns` chunks. Arrays made once for the
// operand's structure store the positions of the pieces.
Result<nest::Nest> deal_rows(const nest::Nest& nest, const DealRows& step);

}  // namespace tulle::schedule
