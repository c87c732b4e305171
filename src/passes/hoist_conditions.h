// Asks once, before a loop, what each of its iterations would ask.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// A loop that does nothing but what stands under a condition, which is the same in all iterations
// and loads nothing, comes under that condition itself; names for what is the same in all
// iterations are bound before it: `for j { let b = j * 4; if (k < n) { let at = k + 1; ... } }`
// becomes `if (k < n) { let at = k + 1; for j { let b = j * 4; ... } }`.
loop::Kernel hoist_conditions(loop::Kernel kernel);

}  // namespace tulle::passes
