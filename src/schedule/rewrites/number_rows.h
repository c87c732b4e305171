// Loops over the numbers of the rows that an operand stores.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Replaces the loop over `loop`, which walks over the coordinates in the first level of one
// operand, by a loop over their numbers: row number `row` has the coordinate stored at that
// position. Numbers have no gaps, so split, fuse, bind, split_rows and other rewrites accept them
// like densely stored rows.
//
// Refuses if the loop walks over no operand, over several, or over a level other than the first.
// Also refuses if the statement computes something without an entry, if rows without entries would
// change an accumulated value, and if it builds a sparse result with its own pattern.
Result<nest::Nest> number_rows(const nest::Nest& nest, const NumberRows& step);

}  // namespace tulle::schedule
