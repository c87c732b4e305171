// What of a kernel nothing reads.
#pragma once

#include "loop/stmt.h"

namespace tulle::passes {

// The statement without lets and variables that are never read, stores to local arrays that are
// never read, and the allocations of arrays that nothing uses.
loop::Stmt drop_unread(const loop::Stmt& kernel_body);

}  // namespace tulle::passes
