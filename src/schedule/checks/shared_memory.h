// Checks the shared memory of a block.
#pragma once

#include "nest/nest.h"
#include "support/result.h"

namespace tulle::schedule {

// Refuses unless copies in shared memory are outside loops over lanes and threads, and a block has
// enough shared memory for the copies and for the tuples that its warps and threads merge. The nest
// must pass all other checks first.
Result<> require_shared_memory(const nest::Nest& nest);

}  // namespace tulle::schedule
