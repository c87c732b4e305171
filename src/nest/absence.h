// Workspaces whose elements may have no value.
#pragma once

#include <set>
#include <string>

#include "nest/nest.h"

namespace tulle::nest {

// Whether a workspace element may receive no term because sparse operands have no entries.
bool may_be_absent(const Nest& nest, const std::string& workspace);

// The workspaces whose readers distinguish an absent element from 0: 0 / 0 is NaN, absent / 0 is
// absent. A sum outside all loops is a scalar, which always has a value.
std::set<std::string> told_from_zero(const Nest& nest);

}  // namespace tulle::nest
