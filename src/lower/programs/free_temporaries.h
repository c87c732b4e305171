// Freeing what steps allocate once nothing uses it any more.
#pragma once

#include "loop/host.h"

namespace tulle::lower {

// Inserts steps that free what was allocated and is no result right after its last use. Once, when
// the program is complete.
void free_temporaries(loop::HostProgram& program);

}  // namespace tulle::lower
