// The mapping of a kernel's loops to GPU blocks, warps and threads.
#pragma once

#include <optional>

#include "loop/stmt.h"
#include "support/gpu_limits.h"

namespace tulle::loop {

// The number of iterations of a loop with constant bounds.
std::optional<int64_t> constant_extent(const For& loop);

// The number of threads per block that the kernel's largest warp loop (32 threads per iteration) or
// thread loop needs. Iteration t of a thread loop runs on thread t, iteration w of a warp loop on
// threads 32 w to 32 w + 31, and iteration l of a lane loop on thread l of each warp. Additional
// threads are idle. 1 if no loop is bound to threads.
int threads_per_block(const Stmt& body);

// The number of threads per block of a launch: a multiple of the warp size, or 1.
int launched_threads(const Stmt& body);

// The bytes of shared memory that a buffer, or a whole kernel, uses.
inline constexpr int64_t kSharedAlignment = 16;
inline constexpr int64_t kStaticShared = 48
                                         << 10;  // kernels that need more request it at each launch
int64_t shared_bytes(const Allocate& buffer);    // a multiple of the alignment
int64_t shared_bytes(const Stmt& body);

}  // namespace tulle::loop
