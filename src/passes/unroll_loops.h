// Writes out the copies of unrolled loops.
#pragma once

#include "loop/host.h"
#include "passes/remarks.h"

namespace tulle::passes {

// An Unrolled loop becomes `factor` copies of its body a step, each in a Block of its own, and a
// loop over the remainder; factor 0 writes out all iterations. The order of iterations stays, so
// results are the same to the last bit. A loop with too many iterations to write out stays a
// serial loop, and a remark says so.
loop::Kernel unroll_loops(loop::Kernel kernel, Remarks& remarks);

}  // namespace tulle::passes
