// Where loops, barriers, lane operations and shared memory may stand; part of the verifier.
#pragma once

#include "loop/host.h"

namespace tulle::loop {

// Raises an InternalError that quotes what stands in a wrong place. Names and types have been
// checked.
void verify_placement(const Kernel& kernel);

}  // namespace tulle::loop
