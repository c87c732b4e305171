// Results with a structure that is known before they are computed: dense ones, and those that share
// an operand's structure.
#pragma once

#include "lower/programs/result_info.h"

namespace tulle::lower {

// Appends the allocation, the steps before the kernel, and the kernel. If several chunks have
// pieces of rows, also appends the kernel that merges them.
void lower_known_structure(const nest::Nest& nest, const ResultInfo& result, const Options& options,
                           bool shares_result, loop::HostProgram& program);

}  // namespace tulle::lower
