// Tulle's own thread pool.
#pragma once

#include <memory>

#include "support/parallelism.h"

namespace tulle::runtime {

// Workers that block while idle. They start with the first call. Calls may come from many threads
// at once and from inside tasks.
class ThreadPool final : public Parallelism {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool() override;
  int threads() const override { return threads_; }
  void run(int count, void (*task)(void* data, int index), void* data) override;

 private:
  struct Shared;
  int threads_;
  std::unique_ptr<Shared> shared_;
};

// The process's pool, with one thread per processor available to the process. The child of a fork
// creates a new pool.
Parallelism& default_parallelism();

}  // namespace tulle::runtime
