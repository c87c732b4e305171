// Writes out the copies of unrolled loops.
#pragma once

#include "loop/fresh_names.h"
#include "loop/host.h"
#include "support/backend.h"
#include "support/remarks.h"

namespace tulle::passes {

// An Unrolled loop becomes `factor` copies of its body a step, each in a Block of its own, and a
// loop over the remainder; factor 0 writes out all iterations. The order of iterations stays, so
// results are the same to the last bit. A loop with too many iterations to write out stays a
// serial loop, and a remark says so, and so does one in which shared memory is allocated. On a GPU
// the remainder of a loop that changes nothing but variables and local arrays is one step more, in
// which iterations past the end change nothing, and short loops over the elements of local arrays
// are written out whether or not they are Unrolled.
loop::Kernel unroll_loops(loop::Kernel kernel, Backend backend, Remarks& remarks);

// Whether a short loop counts through elements of a local array: in registers, which have no
// addresses, if it is written out.
bool counts_through_registers(const loop::For& loop);
// Every iteration, one after the other; there are so many.
loop::Stmt written_out(const loop::For& loop, int64_t trips, loop::FreshNames& names);

}  // namespace tulle::passes
