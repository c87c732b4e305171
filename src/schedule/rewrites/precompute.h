// Gathers a sum in a workspace before it is stored.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Accumulates in a workspace instead of the result. The outermost summed loop that does not add by
// atomics becomes the producer, with everything in it. The producer accumulates into
// workspace[loops]. The consumer loops over `loops` and stores the workspace:
//
//   forall i, j, k: C[i,k] += e
//   -> forall i: where acc { forall k: C[i,k] = acc[k] } producing { forall j, k: acc[k] += e }
//
// `loops` must be exactly the loops over the result's indices inside that loop. Without any, the
// workspace is a scalar. A tracked or scanned workspace starts with the variable along which the
// result stores only the coordinates that were reached. The variables of the result's blocks
// follow, if it has blocks.
Result<nest::Nest> precompute(const nest::Nest& nest, const Precompute& step);

// The step with a tracked workspace, as messages print it.
Precompute tracked_precompute(const std::string& workspace, const NameList& loops);

}  // namespace tulle::schedule
