// Makes the loads of a loop's copies before anything waits for them.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// In a block with several blocks in it, as unrolling leaves them, lets that depend on nothing but
// memory that the kernel never writes and on names that never change move to its front: first
// those that wait for no load, then those that wait for these, and so on. So a thread of a GPU,
// which runs in order, has all its loads under way when it needs the first. Results stay the same
// to the last bit.
loop::Kernel advance_loads(loop::Kernel kernel);

}  // namespace tulle::passes
