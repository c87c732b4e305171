// Rows that are cut into pieces, of which each gathers its part in workspaces of its own.
#pragma once

#include "nest/nest.h"

namespace tulle::nest {

// The loop over rows that several chunks may have pieces of; null where rows are whole.
const Forall* loop_over_pieces(const Nest& nest);

// What a row fills before it is stored, copies of operands aside: several workspaces that go
// together; null where it is one or none.
const Where* tuple_of_row(const Nest& nest, const Forall& rows);

// What each piece of a row fills, to be merged before the row is stored; null where pieces are
// stored one by one, or combined by atomics.
const Where* merged_pieces(const Nest& nest);

}  // namespace tulle::nest
