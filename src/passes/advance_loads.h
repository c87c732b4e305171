// Moves the loads of an unrolled loop's copies to the front of the block.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// In a block that contains several blocks, as unrolling produces them, lets move to the front if
// they depend only on memory that the kernel never writes and on names that never change. Lets that
// depend on no load come first, then those that depend on these loads, and so on. A GPU thread
// executes in order, so all its loads are in flight before the first value is needed. Results are
// bitwise identical.
loop::Kernel advance_loads(loop::Kernel kernel);

}  // namespace tulle::passes
