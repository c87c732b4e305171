// Rows of an operand that are cut into chunks.
#pragma once

#include "nest/nest.h"

namespace tulle::nest {

// Whether the assignment adds up entries of rows that are cut into chunks, so that several chunks
// add to one element; not where each entry has a place of its own in the tensor.
bool adds_up_cut_rows(const Nest& nest, const Assign& assign);
// How what several of them compute for an element is put together: as it accumulates, or as the
// workspace does that is stored there.
Accumulate combined_by(const Nest& nest, const Assign& assign);

}  // namespace tulle::nest
