// Rows that chunks of equal work are cut out of, wherever in a row that is.
#pragma once

#include "nest/nest.h"

namespace tulle::nest {

// The outermost loop, if it is cut by LoopTag::Balance::Merge; else null.
const Forall* loop_over_merged_rows(const Nest& nest);

// The operand whose rows the loop goes through: stored one after the other, with the coordinates of
// their entries, along a loop inside; or whose entries are listed with both coordinates, row by
// row. Null where there is none.
const expr::Access* merged_operand(const Nest& nest, const Forall& rows);
// Whether a matrix is stored as such a list, and whether as rows of entries one after the other.
bool lists_entries(const Format& format);
bool stores_rows(const Format& format);
// The index along which it stores these.
const std::string& entries_index(const Nest& nest, const expr::Access& operand);
// Whether the access goes through rows of entries along the same two loops, in ascending order, so
// that what it has between two entries of the operand can be found.
bool goes_along(const Nest& nest, const expr::Access& access, const expr::Access& operand);

}  // namespace tulle::nest
