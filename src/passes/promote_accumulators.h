// Keeps what a loop accumulates in a register.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// A loop that updates one element of a buffer, `for p { C[i] = C[i] + e }`, works on a variable
// instead: loaded before the loop, stored after it, neither if the loop has no iterations. The
// index must not change in the loop, and the loop must not touch the buffer anywhere else.
loop::Kernel promote_accumulators(loop::Kernel kernel);

}  // namespace tulle::passes
