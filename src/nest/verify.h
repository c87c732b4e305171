// Verifies the invariants of nests.
#pragma once

#include "nest/nest.h"

namespace tulle::nest {

// Throws InternalError unless: enclosing loops bind every index, directly or through provenance; no
// loop binds a bound variable again; every access has the rank of its tensor; only the producer of
// a `where` writes its workspaces and only the consumer reads them; different accesses have
// different ids; prefetches, nontemporal results and extents name existing tensors and variables.
void verify_nest(const Nest& nest);

}  // namespace tulle::nest
