// Checks which loops can be bound to the members of a chunk.
#pragma once

#include "nest/nest.h"
#include "support/result.h"

namespace tulle::schedule {

constexpr int64_t kMostMembers = 128;

// Members of a chunk are threads that search the same entries of a sparse result. Each member has
// its own workspaces and computes a part of the values. Refuses unless loops bound to members store
// different elements of blocks and do nothing else.
Result<> require_legal_members(const nest::Nest& nest);

}  // namespace tulle::schedule
