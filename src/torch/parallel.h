// Threads of PyTorch's: their number and a loop over them.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>

#include "tulle/tulle.h"

namespace tulle::shim {

// Runs body(begin, end) over pieces of [begin, end) of at least `grain`; rethrows what one of them
// throws.
void parallel_for(int64_t begin, int64_t end, int64_t grain,
                  const std::function<void(int64_t, int64_t)>& body);

// For Program::run: as many threads as torch.get_num_threads() says, and its loop over them; in the
// child of a fork, where that loop does not work, Tulle's own threads.
const RunOptions& run_options();

}  // namespace tulle::shim
