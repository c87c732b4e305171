// Rows that are divided into chunks of equal work, which may begin and end within a row.
#pragma once

#include "nest/nest.h"

namespace tulle::nest {

// The outermost loop if it is divided by LoopTag::Balance::Merge, else null.
const Forall* loop_over_merged_rows(const Nest& nest);

// The operand whose rows the loop traverses. Its rows are stored contiguously, with the coordinates
// of their entries along an inner loop; or its entries are a list with both coordinates, row by
// row. Null if there is none.
const expr::Access* merged_operand(const Nest& nest, const Forall& rows);
// Whether the format stores a matrix as such a list, and whether it stores contiguous rows.
bool lists_entries(const Format& format);
bool stores_rows(const Format& format);
// The index along which the operand stores the entries of a row.
const std::string& entries_index(const Nest& nest, const expr::Access& operand);
// Whether the access traverses rows of entries along the same two loops in ascending order, so that
// its entries between two entries of the operand can be found.
bool goes_along(const Nest& nest, const expr::Access& access, const expr::Access& operand);

}  // namespace tulle::nest
