// Launches one kernel, over the ranges of its parallel loop or completely.
#pragma once

#include <cstdint>
#include <string>

#include "loop/abi.h"
#include "support/parallelism.h"

namespace tulle::runtime {

// The iterations of a parallel loop: begin, begin + step, ..., below end.
struct Iterations {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t step = 1;
};

struct KernelCall {
  const std::string& name;
  loop::KernelFunction function;
  void* const* buffers;
  const int64_t* scalars;
};

// Calls the kernel once on this thread. Raises a UserError if a workspace could not be allocated
// and an InternalError if checked mode found an out-of-bounds access.
void launch(const KernelCall& call, const Iterations& iterations);

// Distributes the iterations over the threads in ranges, which idle threads take dynamically. If a
// kernel fails, the remaining ranges are skipped.
void launch_parallel(const KernelCall& call, const Iterations& iterations,
                     Parallelism& parallelism);

}  // namespace tulle::runtime
