// Frees temporaries after their last use.
#pragma once

#include "loop/host.h"

namespace tulle::lower {

// For a complete program: inserts steps that free each allocation that is not a result, directly
// after its last use.
void free_temporaries(loop::HostProgram& program);

}  // namespace tulle::lower
