// The result of a nest and its amount of work.
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
// InternalError if the nest has none.
ResultInfo find_result(const nest::Nest& nest);

// The number of elements in a dense result.
loop::Expr dense_size(const nest::Nest& nest, const ResultInfo& result);
// The number of elements for each entry of the tensor whose pattern the result shares: the product
// of the extents of the dense levels that it has below.
loop::Expr extent_below(const nest::Nest& nest, const ResultInfo& result,
                        const nest::Tensor& owner);

// The number of chunks. Each chunk has enough work, and a worker of a CPU has at most `per_worker`
// chunks. The work is the number of coordinates and entries that the kernel visits. If the kernel
// skips coordinates, `started` elements of the result that the same chunks initialise count too
// (null: none).
loop::Expr chunk_count(const nest::Nest& nest, const KernelFacts& facts, const Options& options,
                       int64_t per_worker, const loop::Expr& started = {});

// Appends the kernel and the steps that launch it.
void add_kernel(LoweredKernel lowered, loop::HostProgram& program);

}  // namespace tulle::lower
