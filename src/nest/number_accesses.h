// One number for every access of a nest.
#pragma once

#include "nest/nest.h"

namespace tulle::nest {

// The nest with its accesses numbered in the order of its text; those to the same tensor under the
// same indices share a number. What is made of a nest then follows from its text.
Nest with_numbered_accesses(const Nest& nest);

}  // namespace tulle::nest
