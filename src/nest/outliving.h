// Workspaces that outlive a statement.
#pragma once

#include <string>
#include <vector>

#include "nest/nest.h"

namespace tulle::nest {

// The workspaces that the statement writes but that no `where` inside it fills.
std::vector<std::string> outliving_workspaces(const Nest& nest, const Stmt& stmt);

}  // namespace tulle::nest
