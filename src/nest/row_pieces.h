// Rows that are cut into pieces, each of which accumulates into its own workspaces.
#pragma once

#include "nest/nest.h"

namespace tulle::nest {

// The loop over rows of which several chunks may have pieces; null if rows are whole.
const Forall* loop_over_pieces(const Nest& nest);

// The `where` of several workspaces, forming tuples, that a row fills before it is stored, ignoring
// copies of operands; null if there are fewer than two.
const Where* tuple_of_row(const Nest& nest, const Forall& rows);

// The `where` of workspaces that each piece of a row fills and that are merged before the row is
// stored; null if pieces are stored one by one or combined by atomics.
const Where* merged_pieces(const Nest& nest);

}  // namespace tulle::nest
