// Launching one kernel: over the ranges of its parallel loop, or whole.
#pragma once

#include <cstdint>
#include <string>

#include "loop/abi.h"
#include "support/parallelism.h"

namespace tulle::runtime {

// The iterations of a parallel loop: begin, begin + step, ... below end.
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

// One call in this thread. Raises what the kernel reports: a UserError if a workspace could not be
// allocated, an InternalError if checked mode found an access out of bounds.
void launch(const KernelCall& call, const Iterations& iterations);

// Spreads the iterations over the threads, in ranges that whoever is free takes next. A kernel that
// fails stops the ranges not yet begun.
void launch_parallel(const KernelCall& call, const Iterations& iterations,
                     Parallelism& parallelism);

}  // namespace tulle::runtime
