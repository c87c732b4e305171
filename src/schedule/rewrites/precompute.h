// Gathers a sum in a workspace before it is stored.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Puts the accumulation into the result behind a workspace. The outermost loop that is summed over,
// but not by atomics, and everything in it become the producer, which accumulates into
// workspace[loops]; the consumer loops over `loops` and stores:
//
//   forall i, j, k: C[i,k] += e
//   -> forall i: where acc { forall k: C[i,k] = acc[k] } producing { forall j, k: acc[k] += e }
//
// `loops` are exactly the loops over the result's indices inside that loop; with none the workspace
// is a scalar. A tracked or scanned workspace has first the variable along which the result stores
// only what was reached, then those that run through the block of each of its coordinates, if it
// has blocks.
Result<nest::Nest> precompute(const nest::Nest& nest, const Precompute& step);

// The step that tracks its workspace, as messages write it.
Precompute tracked_precompute(const std::string& workspace, const NameList& loops);

}  // namespace tulle::schedule
