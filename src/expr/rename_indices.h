// Renames the indices of expressions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "expr/expr.h"

namespace tulle::expr {

// New names by old names. All renames happen at once, so that two indices can swap their names.
using Renames = std::map<std::string, std::string>;

std::vector<std::string> renamed(std::vector<std::string> indices, const Renames& renames);

// The expression with these indices under other names, bound indices included.
Expr renamed_indices(const Expr& expr, const Renames& renames);

}  // namespace tulle::expr
