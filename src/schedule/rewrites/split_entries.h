// Cuts the entries of an operand into chunks of equal length, independent of rows.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// The loops over `row` and, directly in it, over `entry`, which walk over an operand stored as CSR
// or as sorted COO, become one over chunks of `length` entries with one over the entries of a chunk
// in it. Rows do not matter: a chunk finds the row of its first entry by searching and goes on from
// there. Refused where the statement adds up entries, which several chunks would do for one row,
// and where it has terms without an entry.
Result<nest::Nest> split_entries(const nest::Nest& nest, const SplitEntries& step);

}  // namespace tulle::schedule
