// Asks for an operand's data ahead of its use.
#pragma once

#include "nest/nest.h"

namespace tulle::schedule {

// The rows of the operand that stored coordinates pick are fetched `distance` entries ahead.
nest::Nest prefetch(const nest::Nest& nest, const std::string& tensor, int64_t distance);

}  // namespace tulle::schedule
