// Results whose structure is known before they are computed: dense ones, and those that share the
// structure of an operand.
#pragma once

#include "lower/programs/result_info.h"

namespace tulle::lower {

// Appends the allocation, the steps before the kernel, the kernel, and the kernel that merges rows
// if several chunks have pieces of them.
void lower_known_structure(const nest::Nest& nest, const ResultInfo& result, const Options& options,
                           bool shares_result, loop::HostProgram& program);

}  // namespace tulle::lower
