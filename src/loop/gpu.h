// How a kernel's loops are laid over a GPU's blocks, warps and threads.
#pragma once

#include <optional>

#include "loop/stmt.h"
#include "support/gpu_limits.h"

namespace tulle::loop {

// How often a loop with constant bounds runs.
std::optional<int64_t> constant_extent(const For& loop);

// How many threads a block of the kernel has: as many as its largest warp loop (32 each) or thread
// loop asks for. Iteration number t of a thread loop runs on thread t, number w of a warp loop on
// threads 32 w to 32 w + 31, number l of a lane loop on thread l of each warp; further threads
// rest. 1 where no loop is bound to threads.
int threads_per_block(const Stmt& body);

// How many threads a block is launched with: whole warps of them, or 1.
int launched_threads(const Stmt& body);

// How many bytes of shared memory a buffer takes, and all of a kernel's together.
inline constexpr int64_t kSharedAlignment = 16;
inline constexpr int64_t kStaticShared = 48 << 10;  // kernels with more ask for it at each launch
int64_t shared_bytes(const Allocate& buffer);       // a multiple of the alignment
int64_t shared_bytes(const Stmt& body);

}  // namespace tulle::loop
