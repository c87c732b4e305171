// The result of a nest, and how much work it is.
#pragma once

#include <string>
#include <vector>

#include "loop/expr.h"
#include "lower/lowered_kernel.h"
#include "lower/options.h"
#include "nest/nest.h"

namespace tulle::lower {

struct ResultInfo {
  std::string name;
  const nest::Tensor* tensor = nullptr;
  std::vector<std::string> indices;

  const Format& format() const { return tensor->type.format; }
};
// InternalError where the nest has none.
ResultInfo find_result(const nest::Nest& nest);

// How many elements a dense result has.
loop::Expr dense_size(const nest::Nest& nest, const ResultInfo& result);

// The number of chunks: each has enough work, and a worker of a CPU has at most `per_worker` of
// them. The work consists of the coordinates and entries that the kernel visits. If the kernel
// skips coordinates, `started` elements of the result that are filled in the same chunks count as
// well (null: none).
loop::Expr chunk_count(const nest::Nest& nest, const KernelFacts& facts, const Options& options,
                       int64_t per_worker, const loop::Expr& started = {});

// Appends the kernel and the steps that launch it.
void add_kernel(LoweredKernel lowered, loop::HostProgram& program);

}  // namespace tulle::lower
