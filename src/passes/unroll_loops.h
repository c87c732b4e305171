// Unrolls loops.
#pragma once

#include "loop/fresh_names.h"
#include "loop/host.h"
#include "support/backend.h"
#include "support/remarks.h"

namespace tulle::passes {

// An Unrolled loop becomes a loop with `factor` copies of the body per iteration, each in its own
// Block, and a remainder loop. Factor 0 unrolls completely. The order of iterations does not
// change, so results are bitwise identical. A loop with too many iterations to unroll, or one that
// allocates shared memory, becomes serial and leaves a remark. On a GPU, the remainder of a loop
// that changes only variables and local arrays is a single additional step, in which iterations
// past the end have no effect; and short loops over the elements of local arrays are always
// unrolled.
loop::Kernel unroll_loops(loop::Kernel kernel, Backend backend, Remarks& remarks);

// Whether the loop is short and indexes a local array by its variable. Unrolling lets such an array
// live in registers, which cannot be indexed.
bool counts_through_registers(const loop::For& loop);
// All `trips` iterations in sequence.
loop::Stmt written_out(const loop::For& loop, int64_t trips, loop::FreshNames& names);

}  // namespace tulle::passes
