// Sparse results with a structure of their own.
#pragma once

#include "lower/programs/result_info.h"

namespace tulle::lower {

// Appends a kernel that counts entries, where the format has to know their number, the scans of
// these numbers, allocation, and a kernel that fills.
void lower_new_structure(const nest::Nest& nest, const ResultInfo& result, const Options& options,
                         loop::HostProgram& program);

}  // namespace tulle::lower
