// Stores a result past the caches.
#pragma once

#include "nest/nest.h"
#include "support/remarks.h"

namespace tulle::schedule {

// The result is stored without being brought into the caches. A remark says where it is accumulated
// in memory, which reads it back.
nest::Nest nontemporal(const nest::Nest& nest, const std::string& tensor,
                       Remarks* remarks = nullptr);

}  // namespace tulle::schedule
