// Tulle's thread pool: a list of jobs under one mutex, from which idle threads take the next index.
// Waking a sleeping thread takes longer than many kernels run, so waiting threads spin before they
// sleep.
#include "runtime/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <system_error>
#include <thread>
#include <vector>

#include "support/no_fork.h"

namespace tulle::runtime {

namespace {

struct Job {
  void (*task)(void* data, int index);
  void* data;
  int count;
  int taken = 0;
  std::atomic<int> finished = 0;
};

constexpr auto kLongestLook = std::chrono::microseconds(50);

// Whether the condition became true within a short time.
template <typename Condition>
bool look_for(const Condition& condition) {
  constexpr int kLooksBetweenClocks = 64;
  const auto end = std::chrono::steady_clock::now() + kLongestLook;
  do {
    for (int look = 0; look < kLooksBetweenClocks; ++look) {
      if (condition()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

int processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

struct ThreadPool::Shared {
  std::mutex mutex;
  std::condition_variable work, done;
  std::vector<Job*> jobs;  // with indices that no thread has taken
  std::vector<std::thread> workers;
  int asleep = 0;                      // workers
  std::atomic<bool> has_jobs = false;  // mirrors `jobs` for readers without the mutex
  bool stop = false;

  // Runs one index of the job. The caller holds `lock` before and after.
  void run_one(Job& job, std::unique_lock<std::mutex>& lock) {
    const int index = job.taken++;
    if (job.taken == job.count) {
      jobs.erase(std::find(jobs.begin(), jobs.end(), &job));
      has_jobs.store(!jobs.empty(), std::memory_order_relaxed);
    }
    lock.unlock();
    job.task(job.data, index);
    lock.lock();
    const int finished = job.finished.load(std::memory_order_relaxed) + 1;
    const bool is_last = finished == job.count;
    // The job lives on its caller's stack until its last index is counted.
    job.finished.store(finished, std::memory_order_release);
    if (is_last) done.notify_all();
  }

  void worker() {
    std::unique_lock lock(mutex);
    while (true) {
      if (jobs.empty() && !stop) {
        lock.unlock();
        look_for([&] { return has_jobs.load(std::memory_order_relaxed); });
        lock.lock();
      }
      ++asleep;
      work.wait(lock, [&] { return stop || !jobs.empty(); });
      --asleep;
      if (stop) return;
      run_one(*jobs.back(), lock);
    }
  }

  void start(int count) {
    try {
      while (static_cast<int>(workers.size()) < count) workers.emplace_back([this] { worker(); });
    } catch (const std::system_error&) {
      return;  // with fewer threads, the caller does the work itself
    }
  }
};

ThreadPool::ThreadPool(int threads)
    : threads_(std::max(1, threads)), shared_(std::make_unique<Shared>()) {}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stop = true;
  }
  shared_->work.notify_all();
  for (std::thread& worker : shared_->workers) worker.join();
}

void ThreadPool::run(int count, void (*task)(void* data, int index), void* data) {
  if (count <= 0) return;
  if (count == 1 || threads_ == 1) {
    for (int index = 0; index < count; ++index) task(data, index);
    return;
  }
  Job job{task, data, count};
  std::unique_lock lock(shared_->mutex);
  shared_->start(threads_ - 1);
  shared_->jobs.push_back(&job);
  shared_->has_jobs.store(true, std::memory_order_relaxed);
  const int wanted = std::min({count - 1, threads_ - 1, shared_->asleep});
  for (int helper = 0; helper < wanted; ++helper) shared_->work.notify_one();
  while (job.taken < job.count) shared_->run_one(job, lock);
  const auto is_done = [&] { return job.finished.load(std::memory_order_acquire) == job.count; };
  lock.unlock();
  if (look_for(is_done)) return;
  lock.lock();
  shared_->done.wait(lock, is_done);
}

Parallelism& default_parallelism() {
  // Never destroyed: at exit the workers end with the process. The child of a fork has no workers
  // and ignores the parent's pool.
  static std::atomic<ThreadPool*> pool{nullptr};
  static std::mutex mutex;  // locked inside NoFork
  static std::once_flag once;
  if (ThreadPool* current = pool.load(std::memory_order_acquire)) return *current;
  const NoFork no_fork;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { pool.store(nullptr); }); });
  const std::lock_guard lock(mutex);
  if (!pool.load()) pool.store(new ThreadPool(processors()), std::memory_order_release);
  return *pool.load();
}

}  // namespace tulle::runtime
