// Runs loops on PyTorch's threads.
#include "parallel.h"

#include <atomic>
#include <mutex>
#include <pthread.h>

#include <torch/csrc/stable/c/shim.h>
#include <torch/headeronly/util/shim_utils.h>

#include "tulle/error.h"

namespace tulle::shim {

namespace {

// The body of a loop and the first exception of its pieces. Exceptions must not pass through
// PyTorch's C interface.
struct Loop {
  const std::function<void(int64_t, int64_t)>& body;
  std::mutex mutex;
  std::exception_ptr error;
};

void run_piece(int64_t begin, int64_t end, void* context) {
  auto& loop = *static_cast<Loop*>(context);
  try {
    loop.body(begin, end);
  } catch (...) {
    const std::lock_guard lock(loop.mutex);
    if (!loop.error) loop.error = std::current_exception();
  }
}

// Whether this process is the child of a fork. PyTorch's threads do not exist there, and its loop
// would never return.
std::atomic<bool> is_forked = false;
[[maybe_unused]] const int watched = pthread_atfork(nullptr, nullptr, [] { is_forked = true; });

RunOptions with_torch_threads() {
  RunOptions options;
  options.parallel_for = [](int64_t count, const std::function<void(int64_t, int64_t)>& body) {
    parallel_for(0, count, 1, body);
  };
  return options;
}

}  // namespace

void parallel_for(int64_t begin, int64_t end, int64_t grain,
                  const std::function<void(int64_t, int64_t)>& body) {
  if (end - begin <= grain || is_forked) {
    if (begin < end) body(begin, end);
    return;
  }
  Loop loop{body, {}, nullptr};
  if (torch_parallel_for(begin, end, grain, run_piece, &loop) != TORCH_SUCCESS) {
    throw InternalError("PyTorch failed in parallel_for.");
  }
  if (loop.error) std::rethrow_exception(loop.error);
}

const RunOptions& run_options() {
  thread_local RunOptions torch_threads = with_torch_threads();
  thread_local RunOptions own_threads;
  RunOptions& options = is_forked ? own_threads : torch_threads;
  uint32_t threads = 1;
  torch_get_num_threads(&threads);
  options.threads = static_cast<int>(threads);
  return options;
}

}  // namespace tulle::shim
