// Stores a result with nontemporal stores.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Marks the result for nontemporal stores, which bypass the caches. Adds a remark if the kernel
// accumulates the result in memory and so reads it back.
Result<nest::Nest> nontemporal(const nest::Nest& nest, const NonTemporal& step,
                               Remarks* remarks = nullptr);

}  // namespace tulle::schedule
