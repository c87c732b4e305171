// On a GPU: several sums over a group of lanes are made together.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// A loop that is written out sums over the lanes of a group once an iteration, and one lane of the
// group goes on with the sum. The sums of as many iterations as there are copies, at most one for
// each lane, are made together: in each step a lane hands half of its partial sums on and keeps the
// other half. In the end, where there are as many as lanes, lane l has the sum of iteration l and
// goes on with that; where there are fewer, some lanes add up what each of them has of one. It
// takes about one shuffle a sum instead of one a sum and step, and neighbouring lanes store
// neighbouring results. Iterations that store to the same elements are left as they are. A loop
// whose end is not known ends with a group that has fewer iterations.
loop::Kernel scatter_sums(loop::Kernel kernel);

}  // namespace tulle::passes
