// Kernels that give elements of a dense result the value that its accumulation starts at.
#pragma once

#include "lower/programs/result_info.h"

namespace tulle::lower {

// Appends steps that give all elements that value.
void start_result(const ResultInfo& result, const loop::Expr& size, const loop::Expr& start,
                  const Options& options, loop::HostProgram& program);

// Appends steps that give it to the rows to which several chunks add; 0 if `start` is null.
void start_shared_rows(const nest::Nest& nest, const ResultInfo& result, const SharedRows& shared,
                       const loop::Expr& start, const Options& options, loop::HostProgram& program);

}  // namespace tulle::lower
