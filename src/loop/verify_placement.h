// The verifier's checks of where loops, barriers, lane operations and shared memory may appear.
#pragma once

#include "loop/host.h"

namespace tulle::loop {

// Raises an InternalError that quotes the misplaced statement. Names and types must have been
// verified.
void verify_placement(const Kernel& kernel);

}  // namespace tulle::loop
