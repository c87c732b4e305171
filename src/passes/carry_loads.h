// carry_loads: an element that one iteration of a loop reads and the next reads again is kept in a
// variable.
//
// The end of a row is where the next row begins: a loop over rows then loads one position an
// iteration instead of two.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

loop::Kernel carry_loads(loop::Kernel kernel);

}  // namespace tulle::passes
