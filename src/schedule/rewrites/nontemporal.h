// Stores a result past the caches.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// The result is stored without being brought into the caches. A remark says where it is accumulated
// in memory, which reads it back.
Result<nest::Nest> nontemporal(const nest::Nest& nest, const NonTemporal& step,
                               Remarks* remarks = nullptr);

}  // namespace tulle::schedule
