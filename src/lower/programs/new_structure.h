// Sparse results with their own structure.
#pragma once

#include "lower/programs/result_info.h"

namespace tulle::lower {

// Appends a kernel that counts entries (if the format needs their number), scans of the counts,
// allocations, and a kernel that fills.
void lower_new_structure(const nest::Nest& nest, const ResultInfo& result, const Options& options,
                         loop::HostProgram& program);

}  // namespace tulle::lower
