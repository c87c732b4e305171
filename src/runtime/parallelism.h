// How work is spread over threads: an interface for the caller's threads, and a pool of our own.
#pragma once

#include <memory>
#include <type_traits>

namespace tulle::runtime {

class Parallelism {
 public:
  virtual ~Parallelism() = default;
  // How many threads `run` may use, the caller's included.
  virtual int threads() const = 0;
  // Calls task(data, 0) to task(data, count - 1) on any threads in any order; returns when all have
  // returned. Tasks do not throw.
  virtual void run(int count, void (*task)(void* data, int index), void* data) = 0;
};

// Everything in the calling thread.
class NoParallelism final : public Parallelism {
 public:
  int threads() const override { return 1; }
  void run(int count, void (*task)(void* data, int index), void* data) override {
    for (int index = 0; index < count; ++index) task(data, index);
  }
};

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

// run() for anything that can be called with an index.
template <typename Task>
void parallel_for(Parallelism& parallelism, int count, Task&& task) {
  using Body = std::remove_reference_t<Task>;
  parallelism.run(
      count, [](void* data, int index) { (*static_cast<Body*>(data))(index); },
      const_cast<std::remove_const_t<Body>*>(&task));
}

}  // namespace tulle::runtime
