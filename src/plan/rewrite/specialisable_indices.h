// The extents that kernels are compiled for.
#pragma once

#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::plan {

// The indices whose extents are worth a kernel of their own: contiguous in a dense operand.
std::vector<std::string> specialisable_indices(const expr::ResolvedProgram& program);

}  // namespace tulle::plan
