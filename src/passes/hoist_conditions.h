// Hoists loop-invariant conditions out of loops.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// If the body of a loop is a single `if` with a loop-invariant condition that loads nothing, the
// `if` moves around the loop, and loop-invariant lets move before it: `for j { let b = j * 4; if (k
// < n) { let at = k + 1; ... } }` becomes `if (k < n) { let at = k + 1; for j { let b = j * 4; ...
// } }`.
loop::Kernel hoist_conditions(loop::Kernel kernel);

}  // namespace tulle::passes
