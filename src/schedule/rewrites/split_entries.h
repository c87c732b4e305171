// Cuts the entries of an operand into chunks of equal length, across row boundaries.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Replaces the loops over `row` and, directly inside it, over `entry`, which walk over a CSR or
// sorted COO operand, by a loop over chunks of `length` entries and a loop over the entries of a
// chunk. Row boundaries do not matter: a chunk searches the row of its first entry and continues
// from there. Refuses if the statement sums over entries, because several chunks would add to one
// row, and if it has terms without an entry.
Result<nest::Nest> split_entries(const nest::Nest& nest, const SplitEntries& step);

}  // namespace tulle::schedule
