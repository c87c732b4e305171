// Counts the allocations of the test program.
#pragma once

#include <cstdint>

namespace tulle::passes {

// The number of allocations so far.
int64_t count_allocations();

}  // namespace tulle::passes
