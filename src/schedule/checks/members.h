// Which loops can be bound to the members of a chunk.
#pragma once

#include "nest/nest.h"
#include "support/result.h"

namespace tulle::schedule {

constexpr int64_t kMostMembers = 128;

// The members of a chunk are threads that find the same entries of a sparse result, each in its own
// workspaces, and compute a part of the values each. Refuses if loops that are bound to members do
// anything else: they must store different elements of blocks.
Result<> require_legal_members(const nest::Nest& nest);

}  // namespace tulle::schedule
