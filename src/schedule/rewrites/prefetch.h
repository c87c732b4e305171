// Asks for an operand's data ahead of its use.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// The rows of the operand that stored coordinates pick are fetched `distance` entries ahead.
Result<nest::Nest> prefetch(const nest::Nest& nest, const Prefetch& step);

}  // namespace tulle::schedule
