// Numbers the accesses of a nest.
#pragma once

#include "nest/nest.h"

namespace tulle::nest {

// Numbers accesses in the order of the text; accesses to the same tensor with the same indices
// share a number. The stages after this one then depend on the text of the nest only.
Nest with_numbered_accesses(const Nest& nest);

}  // namespace tulle::nest
