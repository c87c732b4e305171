// The caller's threads as a Parallelism of the runtime.
#pragma once

#include "runtime/thread_pool.h"
#include "support/parallelism.h"
#include "tulle/tulle.h"

namespace tulle {

// Adapts the caller's parallel_for to the runtime.
class CallerParallelism final : public Parallelism {
 public:
  explicit CallerParallelism(const RunOptions& options) : options_(options) {}
  int threads() const override { return options_.threads; }
  void run(int count, void (*task)(void* data, int index), void* data) override {
    if (options_.threads == 1 || count == 1) {
      for (int index = 0; index < count; ++index) task(data, index);
    } else if (options_.parallel_for) {
      options_.parallel_for(count, [&](int64_t begin, int64_t end) {
        for (int64_t index = begin; index < end; ++index) task(data, static_cast<int>(index));
      });
    } else {
      runtime::default_parallelism().run(count, task, data);
    }
  }

 private:
  const RunOptions& options_;
};

}  // namespace tulle
