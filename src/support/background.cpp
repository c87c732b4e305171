// A queue and the thread that empties it.
#include "support/background.h"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "support/log.h"
#include "support/no_fork.h"

namespace tulle {

namespace {

constexpr int kLowPriority = 10;  // of -20 to 19, where 0 is usual

class Worker {
 public:
  std::shared_future<void> add(std::function<void()> job) {
    std::packaged_task<void()> task(std::move(job));
    std::shared_future<void> done = task.get_future().share();
    const NoFork no_fork;
    const std::lock_guard lock(mutex_);
    if (!started_) start();
    jobs_.push_back(std::move(task));
    changed_.notify_one();
    return done;
  }

  // Returns when all jobs so far are done.
  void wait() {
    if (is_started()) add([] {}).wait();
  }

  // Never destroyed: its thread may outlive whoever would. The child of a fork, which has no such
  // thread, begins anew.
  static Worker& instance() {
    static Worker& worker = []() -> Worker& {
      pthread_atfork(nullptr, nullptr, [] { new (&instance()) Worker; });
      return *new Worker;
    }();
    return worker;
  }

 private:
  bool is_started() {
    const std::lock_guard lock(mutex_);
    return started_;
  }

  void start() {
    std::thread([this] { work(); }).detach();
    std::atexit([] { instance().stop(); });
    started_ = true;
  }

  void work() {
    setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kLowPriority);
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopped_ || !jobs_.empty(); });
      if (stopped_) break;
      std::packaged_task<void()> task = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      task();
      task = {};  // what it holds goes outside of the lock
      lock.lock();
    }
    ended_ = true;
    changed_.notify_all();
  }

  void stop() {
    std::unique_lock lock(mutex_);
    if (!started_) return;
    stopped_ = true;
    if (!jobs_.empty()) TULLE_LOG(Info, jobs_.size(), " jobs in the background are dropped");
    changed_.notify_all();
    changed_.wait(lock, [&] { return ended_; });
  }

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> jobs_;
  bool started_ = false, stopped_ = false, ended_ = false;
};

}  // namespace

std::shared_future<void> in_background(std::function<void()> job) {
  return Worker::instance().add(std::move(job));
}

void await_background() { Worker::instance().wait(); }

}  // namespace tulle
