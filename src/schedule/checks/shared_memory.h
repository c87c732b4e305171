// What the blocks of a GPU keep in shared memory.
#pragma once

#include "nest/nest.h"
#include "support/result.h"

namespace tulle::schedule {

// Refuses unless the copies of a nest in shared memory stand outside of loops over lanes and
// threads, and a block has room for them and for the tuples that its warps and threads merge. The
// loops of the nest are legal but for that.
Result<> require_shared_memory(const nest::Nest& nest);

}  // namespace tulle::schedule
