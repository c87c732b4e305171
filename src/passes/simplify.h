// Removes what does nothing and shortens what is known.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// Folds constants and index arithmetic, puts trivial lets where they are used, and drops lets,
// variables and local arrays that nothing reads, empty blocks and loops, and branches that are
// never taken. Every value stays the same to the last bit. Sizes and indices are taken not to
// overflow.
loop::Kernel simplify(loop::Kernel kernel);

}  // namespace tulle::passes
