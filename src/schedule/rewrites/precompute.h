// Gathers a sum in a workspace before it is stored.
#pragma once

#include "nest/nest.h"

namespace tulle::schedule {

// Puts the accumulation into the result behind a workspace. The outermost loop that is summed over,
// but not by atomics, and everything in it become the producer, which accumulates into
// workspace[vars]; the consumer loops over `vars` and stores:
//
//   forall i, j, k: C[i,k] += e
//   -> forall i: where acc { forall k: C[i,k] = acc[k] } producing { forall j, k: acc[k] += e }
//
// `vars` are exactly the loops over the result's indices inside that loop; with none the workspace
// is a scalar. A tracked or scanned workspace has first the variable along which the result stores
// only what was reached, then those that run through the block of each of its coordinates, if it
// has blocks.
nest::Nest precompute(const nest::Nest& nest, const std::string& workspace,
                      const std::vector<std::string>& vars,
                      nest::Tensor::Tracking tracking = nest::Tensor::Tracking::Plain);

// The text of a step that tracks its workspace.
std::string tracked_precompute(const std::string& workspace, const std::vector<std::string>& vars);

}  // namespace tulle::schedule
