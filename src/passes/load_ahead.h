// Loads the coordinates of the next iteration during the current one.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// Applies to loops `while (p < end) { ...; p = p + step }` in which lanes combine values. Each
// iteration loads, from memory that the kernel never writes, the integers that the next iteration
// needs at addresses computed from p, usually coordinates. A GPU thread then waits for the gather
// but not for its coordinate. The last iteration loads its own coordinates again. Results are
// bitwise identical.
loop::Kernel load_ahead(loop::Kernel kernel);

}  // namespace tulle::passes
