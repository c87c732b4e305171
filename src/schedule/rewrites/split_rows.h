// Cuts the rows of an operand into chunks with equal numbers of rows and entries.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// The loop over `loop`, the rows of an operand stored as CSR, becomes one over chunks with one over
// the rows of a chunk in it. A chunk has the rows that begin in it, whole if they have at most
// `length` entries; the entries of longer rows are shared by all chunks that these reach into,
// whose sums, or maxima, are combined by atomics. So no chunk has more than twice `length` to do,
// however long a row is. Refused where the statement is no plain sum or product over the entries of
// that operand, or where it is no dense result's first index. `parts` limits the number of
// chunks, which are longer where `length` would make more.
Result<nest::Nest> split_rows(const nest::Nest& nest, const SplitRows& step);

}  // namespace tulle::schedule
