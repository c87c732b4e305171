// PyTorch's threads: their number, and a parallel loop.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>

#include "tulle/tulle.h"

namespace tulle::shim {

// Runs body(begin, end) over pieces of [begin, end) of at least `grain` elements. Rethrows an
// exception of a piece.
void parallel_for(int64_t begin, int64_t end, int64_t grain,
                  const std::function<void(int64_t, int64_t)>& body);

// Options for Program::run(): PyTorch's number of threads and its parallel loop. That loop does not
// work in the child of a fork, where Tulle uses its own threads.
const RunOptions& run_options();

}  // namespace tulle::shim
