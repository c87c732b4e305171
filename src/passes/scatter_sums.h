// Computes several lane sums together on a GPU.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// Applies to unrolled loops in which each iteration sums over a group of lanes and one lane of the
// group consumes the sum. The sums of all copies, at most one per lane, are computed together: in
// each step a lane passes half of its partial sums to another lane and keeps the other half. With
// as many copies as lanes, lane l ends up with the sum of iteration l and consumes it. With fewer
// copies, a few lanes add up the parts of each sum. This takes about one shuffle per sum instead of
// one per sum and step, and neighbouring lanes store neighbouring results. Loops whose iterations
// store to the same elements remain unchanged. A loop with an unknown end finishes with a partial
// group.
loop::Kernel scatter_sums(loop::Kernel kernel);

}  // namespace tulle::passes
