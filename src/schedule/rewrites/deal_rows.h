// Cuts the rows of an operand into pieces that chunks process in turn.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// As split_rows, but all rows are cut into pieces of at most `length` entries. There are `parts`
// times `turns` chunks: pieces that lie together and come to an equal share of the work make a
// part, and the chunks of a part take them in turn. Where the pieces are is looked up in arrays
// that are made once for the structure of the operand.
Result<nest::Nest> deal_rows(const nest::Nest& nest, const DealRows& step);

}  // namespace tulle::schedule
