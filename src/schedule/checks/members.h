// Which loops can be bound to the members of a chunk.
#pragma once

#include "nest/nest.h"

namespace tulle::schedule {

constexpr int64_t kMostMembers = 128;

// The members of a chunk are threads that all find the same entries of a sparse result, each in
// workspaces of its own, and compute a part of the values each. Raises UserError if that is not all
// that loops bound to members do: what they store must be different elements of blocks.
void require_legal_members(const nest::Nest& nest);

}  // namespace tulle::schedule
