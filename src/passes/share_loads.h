// On a GPU: lanes that load the same numbers load one each and hand it to the others.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// Of a loop over positions in which lanes combine what they have: the copies of an iteration load
// whole numbers, coordinates above all, from places that are the same for neighbouring lanes and
// equally far apart. Each of these lanes loads the number of one copy, and the others have it from
// there: one access to memory instead of one a copy, and one register to load it ahead of time.
// Results stay the same to the last bit.
loop::Kernel share_loads(loop::Kernel kernel);

}  // namespace tulle::passes
