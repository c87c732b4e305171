// On a GPU: as many sums over a group of lanes as it has lanes leave one sum in each of them.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// A loop that is written out sums over the lanes of a group once an iteration, and one lane of the
// group goes on with the sum. Where there are as many iterations as lanes, the sums are made
// together: in each step a lane hands half of its partial sums on and keeps the other half, and in
// the end lane l has the sum of iteration l and goes on with that. It takes one shuffle a lane
// instead of one a lane and step, and neighbouring lanes store neighbouring results.
loop::Kernel scatter_sums(loop::Kernel kernel);

}  // namespace tulle::passes
