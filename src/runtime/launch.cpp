// Splits iterations into ranges, runs them on threads and converts the kernel's status to errors.
#include "runtime/launch.h"

#include <algorithm>
#include <atomic>

#include "runtime/worker.h"
#include "support/check.h"

namespace tulle::runtime {

namespace {

constexpr int64_t kRangesPerThread = 8;  // so that fast threads take more ranges

using OutOfBounds = loop::WorkerContext::OutOfBounds;

[[noreturn]] void raise(const KernelCall& call, int32_t status, const OutOfBounds& access) {
  switch (status) {
    case loop::kKernelOutOfMemory:
      user_error("out of memory: a workspace of the kernel ", call.name,
                 " could not be allocated; use a smaller problem or a machine with more memory");
    case loop::kKernelOutOfBounds:
      internal_error("the kernel ", call.name, " accesses ",
                     access.buffer ? access.buffer : "a buffer", "[", access.index, "], which has ",
                     access.size, " elements");
    default:
      internal_error("the kernel ", call.name, " returned the unknown status ", status);
  }
}

int32_t run_range(const KernelCall& call, int64_t begin, int64_t end) {
  return call.function(&this_worker(), call.buffers, call.scalars, begin, end);
}

}  // namespace

void launch(const KernelCall& call, const Iterations& iterations) {
  const int32_t status = run_range(call, iterations.begin, iterations.end);
  if (status != loop::kKernelOk) raise(call, status, this_worker().out_of_bounds);
}

void launch_parallel(const KernelCall& call, const Iterations& iterations,
                     Parallelism& parallelism) {
  const auto [begin, end, step] = iterations;
  if (begin >= end) return launch(call, iterations);  // the code around the loop still runs
  const int64_t count = (end - begin - 1) / step + 1;
  const int64_t threads = std::min<int64_t>(count, parallelism.threads());
  if (threads <= 1) return launch(call, iterations);

  const int64_t ranges = std::min(count, threads * kRangesPerThread);
  // A worker starts with the range of its own number, whose data its caches may still hold from the
  // last call, and continues with ranges that no thread has started.
  std::atomic<int64_t> next{threads};
  std::atomic<int32_t> status{loop::kKernelOk};
  OutOfBounds access;
  parallel_for(
      parallelism, static_cast<int>(threads),
      [&, begin = begin, end = end, step = step](int worker) {
        for (int64_t range = worker;
             range < ranges && status.load(std::memory_order_relaxed) == loop::kKernelOk;
             range = next.fetch_add(1, std::memory_order_relaxed)) {
          const auto bound = [&](int64_t r) {
            return r == ranges ? end
                               : begin + step * (count / ranges * r + std::min(r, count % ranges));
          };
          const int32_t failed = run_range(call, bound(range), bound(range + 1));
          int32_t expected = loop::kKernelOk;
          if (failed != loop::kKernelOk && status.compare_exchange_strong(expected, failed)) {
            access = this_worker().out_of_bounds;
          }
        }
      });
  if (status != loop::kKernelOk) raise(call, status, access);
}

}  // namespace tulle::runtime
