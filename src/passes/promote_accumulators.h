// Promotes accumulators to registers.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// A loop that updates one buffer element, `for p { C[i] = C[i] + e }`, operates on a variable
// instead, which is loaded before the loop and stored after it. A loop without iterations does
// neither. The index must be loop-invariant, and the loop must not access the buffer in any other
// way.
loop::Kernel promote_accumulators(loop::Kernel kernel);

}  // namespace tulle::passes
