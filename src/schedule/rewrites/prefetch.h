// Prefetches the data of an operand.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Prefetches the rows of the operand that stored coordinates select, `distance` entries ahead.
Result<nest::Nest> prefetch(const nest::Nest& nest, const Prefetch& step);

}  // namespace tulle::schedule
