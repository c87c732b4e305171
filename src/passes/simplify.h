// Simplifies expressions and control flow.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// Folds constants and index arithmetic, forwards trivial lets to their uses, and removes unused
// lets, variables and local arrays, empty blocks and loops, and branches that are never taken.
// Values are bitwise identical. Assumes that sizes and indices do not overflow.
loop::Kernel simplify(loop::Kernel kernel);

}  // namespace tulle::passes
