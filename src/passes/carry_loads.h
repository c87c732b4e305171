// Keeps an element in a variable if one iteration of a loop loads it and the next iteration loads
// it again. A loop over rows, for example, loads one position per iteration instead of two, because
// each row ends where the next row begins.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

loop::Kernel carry_loads(loop::Kernel kernel);

}  // namespace tulle::passes
