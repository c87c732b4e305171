// Workspaces that may be left as they were.
#pragma once

#include <set>
#include <string>

#include "nest/nest.h"

namespace tulle::nest {

// Whether nothing may have been added to a workspace where sparse operands have no entries.
bool may_be_absent(const Nest& nest, const std::string& workspace);

// The workspaces whose absence changes a value that reads them: 0 / 0 is NaN, nothing / 0 is
// nothing. A sum outside all loops is a scalar, which has a value whatever was added up.
std::set<std::string> told_from_zero(const Nest& nest);

}  // namespace tulle::nest
