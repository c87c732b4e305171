// Cuts a loop over stored entries into pieces of equally many.
#pragma once

#include "nest/nest.h"

namespace tulle::schedule {

// Every loop over `var`, which walks over the entries that one operand stores in a row, becomes one
// over `outer` with one over `inner` directly in it: entry number outer * length + inner of the
// row, inner < length. Unlike blocks of coordinates these are found without searching. Refused
// where no operand or more than one is walked over, where the operand is not needed for every term,
// and where a sparse result of its own is built.
nest::Nest split_positions(const nest::Nest& nest, const std::string& var, int64_t length,
                           const std::string& outer, const std::string& inner);

// UserError unless loops over positions stand inside the loops over the rows that they are in, and
// nobody else has to find its way along them.
void require_walkable_positions(const nest::Nest& nest);

}  // namespace tulle::schedule
