// Runs the outermost loop on all threads.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Cuts the outermost loop, which must run over `loop`, into chunks. The chunks have equal numbers
// of rows, or equal numbers of rows plus entries. With by=nnz, chunks consist of whole rows. With
// by=merge, a chunk may begin anywhere inside a row, so that all threads share a very long row. A
// second kernel merges the parts of such a row, always in the same order.
//
// Refuses if two iterations would write one location. By entries, refuses if no operand stores
// entries directly below the loop. merged_rows.h lists the refusals of by=merge.
Result<nest::Nest> parallel(const nest::Nest& nest, const Parallel& step);

}  // namespace tulle::schedule
