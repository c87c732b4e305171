// The extents to specialise kernels to.
#pragma once

#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::plan {

// The indices whose extents are worth a specialised kernel: those contiguous in a dense operand or
// in the dense blocks of a sparse one.
std::vector<std::string> specialisable_indices(const expr::ResolvedProgram& program);

}  // namespace tulle::plan
