// How work is spread over threads: an interface for whoever has some.
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

// Some of another's threads: tasks begin in the order of their indices.
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

// run() for anything that can be called with an index.
template <typename Task>
void parallel_for(Parallelism& parallelism, int count, Task&& task) {
  using Body = std::remove_reference_t<Task>;
  parallelism.run(
      count, [](void* data, int index) { (*static_cast<Body*>(data))(index); },
      const_cast<std::remove_const_t<Body>*>(&task));
}

// The same for tasks that may throw: all run, then what the one of the lowest index threw is
// thrown.
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
