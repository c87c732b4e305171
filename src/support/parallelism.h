// The interface for running tasks in several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <type_traits>
#include <vector>

namespace tulle {

class Parallelism {
 public:
  virtual ~Parallelism() = default;
  // The number of threads that run() may use, including the caller.
  virtual int threads() const = 0;
  // Calls task(data, 0) to task(data, count - 1) in any threads and any order; returns when all
  // calls have returned. Tasks do not throw.
  virtual void run(int count, void (*task)(void* data, int index), void* data) = 0;
};

// Runs everything in the calling thread.
class NoParallelism final : public Parallelism {
 public:
  int threads() const override { return 1; }
  void run(int count, void (*task)(void* data, int index), void* data) override {
    for (int index = 0; index < count; ++index) task(data, index);
  }
};

// Uses a limited number of the threads of another instance. Tasks start in index order.
class FewThreads final : public Parallelism {
 public:
  FewThreads(Parallelism& all, int most) : all_(all), most_(std::max(1, most)) {}
  int threads() const override { return std::min(most_, all_.threads()); }
  void run(int count, void (*task)(void* data, int index), void* data) override {
    struct Tasks {
      void (*task)(void* data, int index);
      void* data;
      int count;
      std::atomic<int> next = 0;
    } tasks{task, data, count};
    const auto work = [](void* shared, int) {
      auto& all = *static_cast<Tasks*>(shared);
      for (int index = all.next++; index < all.count; index = all.next++) all.task(all.data, index);
    };
    const int workers = std::min(threads(), count);
    if (workers > 1) return all_.run(workers, work, &tasks);
    work(&tasks, 0);
  }

 private:
  Parallelism& all_;
  int most_;
};

// run() for any callable with an index.
template <typename Task>
void parallel_for(Parallelism& parallelism, int count, Task&& task) {
  using Body = std::remove_reference_t<Task>;
  parallelism.run(
      count, [](void* data, int index) { (*static_cast<Body*>(data))(index); },
      const_cast<std::remove_const_t<Body>*>(&task));
}

// The same for tasks that may throw. All tasks run; then the exception of the task with the lowest
// index is rethrown.
template <typename Task>
void parallel_for_or_throw(Parallelism& parallelism, int count, const Task& task) {
  std::vector<std::exception_ptr> errors(static_cast<size_t>(count));
  parallel_for(parallelism, count, [&](int index) {
    try {
      task(index);
    } catch (...) {
      errors[static_cast<size_t>(index)] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace tulle
