// Workspaces that may be left as they were.
#pragma once

#include <string>

#include "nest/nest.h"

namespace tulle::nest {

// Whether nothing may have been added to a workspace where sparse operands have no entries.
bool may_be_absent(const Nest& nest, const std::string& workspace);

}  // namespace tulle::nest
