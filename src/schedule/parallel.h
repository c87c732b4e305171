// Runs the outermost loop on all threads.
#pragma once

#include "nest/nest.h"

namespace tulle::schedule {

// Cuts the outermost loop, which must be over `var`, into chunks of equal rows, or of equal rows
// plus entries. Refused where two iterations would write one location and, by entries, where no
// operand stores entries right below `var`.
nest::Nest parallel(const nest::Nest& nest, const std::string& var, nest::LoopTag::Balance balance);

}  // namespace tulle::schedule
