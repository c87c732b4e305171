// Removes dead code.
#pragma once

#include "loop/stmt.h"

namespace tulle::passes {

// The statement without lets and variables that are never read, without stores to local arrays that
// are never read, and without allocations of unused arrays.
loop::Stmt drop_unread(const loop::Stmt& kernel_body);

}  // namespace tulle::passes
