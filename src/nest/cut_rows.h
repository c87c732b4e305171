// Rows of an operand that chunks cut into pieces.
#pragma once

#include "nest/nest.h"

namespace tulle::nest {

// Whether the assignment accumulates entries of rows that chunks cut, so that several chunks add to
// the same element. False if each entry has its own element.
bool adds_up_cut_rows(const Nest& nest, const Assign& assign);
// The operation that combines the values of several chunks: the accumulation of the assignment, or
// of the workspace that it stores.
Accumulate combined_by(const Nest& nest, const Assign& assign);

}  // namespace tulle::nest
