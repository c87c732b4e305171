// The extents of a program's indices, once the sizes of its operands are known.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::expr {

using Sizes = std::map<std::string, std::vector<int64_t>>;

// For each statement the extent of each of its indices. UserError where two dimensions that share
// an index differ, which points at both.
std::vector<std::map<std::string, int64_t>> index_extents(const ResolvedProgram& program,
                                                          const Sizes& operands);

}  // namespace tulle::expr
