// Cuts the rows of an operand into chunks with equal numbers of rows and entries.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Replaces the loop over `loop`, the rows of a CSR operand, by a loop over chunks and a loop over
// the rows of a chunk inside it. A chunk contains the rows that begin in it. Rows with at most
// `length` entries stay whole. All chunks that a longer row reaches into share its entries and
// combine their sums or maxima by atomics. So no chunk has more than twice `length` work, even with
// very long rows. `parts` limits the number of chunks: if `length` would make more, the chunks are
// longer. Refuses unless the statement is a plain sum or product over the entries of that operand
// and the loop runs over the first index of a dense result.
Result<nest::Nest> split_rows(const nest::Nest& nest, const SplitRows& step);

}  // namespace tulle::schedule
