// Loads the coordinates of a loop's next iteration while this one runs.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// Of a loop `while (p < end) { ...; p = p + step }` in which lanes combine what they have: whole
// numbers that an iteration loads from places that follow from p, coordinates above all, are loaded
// by the one before it, from memory that the kernel never writes. So a thread of a GPU waits for a
// gather, not for its coordinate first. The last iteration loads its own once more. Results stay
// the same to the last bit.
loop::Kernel load_ahead(loop::Kernel kernel);

}  // namespace tulle::passes
