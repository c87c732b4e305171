// The extents of indices for given operand sizes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::expr {

using Sizes = std::map<std::string, std::vector<int64_t>>;

// For each statement, the extent of each index. Throws UserError that points at two dimensions with
// the same index and different sizes.
std::vector<std::map<std::string, int64_t>> index_extents(const ResolvedProgram& program,
                                                          const Sizes& operands);

}  // namespace tulle::expr
