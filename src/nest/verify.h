// What must hold of every nest.
#pragma once

#include "nest/nest.h"

namespace tulle::nest {

// Raises InternalError unless every index is bound by the loops around it, directly or through
// provenance; no loop binds what is bound already; every access has its tensor's rank; workspaces
// are written by the producer and read by the consumer of their `where` alone; accesses have
// different ids; prefetches, nontemporal and extents name what is there.
void verify_nest(const Nest& nest);

}  // namespace tulle::nest
