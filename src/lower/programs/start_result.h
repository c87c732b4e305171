// Kernels that initialise elements of a dense result with the start of its accumulation.
#pragma once

#include "lower/programs/result_info.h"

namespace tulle::lower {

// Appends steps that initialise all elements.
void start_result(const ResultInfo& result, const loop::Expr& size, const loop::Expr& start,
                  const Options& options, loop::HostProgram& program);

// Appends steps that initialise the rows to which several chunks add. `start` null: with 0.
void start_shared_rows(const nest::Nest& nest, const ResultInfo& result, const SharedRows& shared,
                       const loop::Expr& start, const Options& options, loop::HostProgram& program);

}  // namespace tulle::lower
