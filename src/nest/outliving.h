// Workspaces that a statement leaves to others.
#pragma once

#include <string>
#include <vector>

#include "nest/nest.h"

namespace tulle::nest {

// Workspaces that the statement writes and no where in it fills: they outlive it.
std::vector<std::string> outliving_workspaces(const Nest& nest, const Stmt& stmt);

}  // namespace tulle::nest
