// Cuts a loop into blocks of a fixed length.
#pragma once

#include "nest/nest.h"
#include "support/remarks.h"

namespace tulle::schedule {

// Every loop over `var` becomes one over `outer` with one over `inner` directly in it: var = outer
// * factor + inner, inner < factor. The subscripts keep `var`, those of workspaces
// excepted, and what lies past its extent is left out. Legal for any variable; where a tensor holds
// only some of its coordinates each block is searched for, and there is a remark.
nest::Nest split(const nest::Nest& nest, const std::string& var, int64_t factor,
                 const std::string& outer, const std::string& inner, Remarks* remarks = nullptr);

}  // namespace tulle::schedule
