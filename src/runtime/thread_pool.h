// The pool of threads of our own.
#pragma once

#include <memory>

#include "support/parallelism.h"

namespace tulle::runtime {

// Workers that block while there is nothing to do; they start with the first call. May be called
// from many threads at once and from inside a task.
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

// The process's pool, with as many threads as there are processors for this process. The child of a
// fork gets a new one.
Parallelism& default_parallelism();

}  // namespace tulle::runtime
