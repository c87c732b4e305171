// Two queues and the thread that empties them.
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

constexpr int kLowPriority = 10;  // in the range -20 to 19; the default is 0

class Worker {
 public:
  std::shared_future<void> add(std::function<void()> job) {
    std::packaged_task<void()> task(std::move(job));
    std::shared_future<void> done = task.get_future().share();
    const NoFork no_fork;
    const std::lock_guard lock(mutex_);
    if (!started_) start();
    jobs_.push_back(std::move(task));
    changed_.notify_all();
    return done;
  }

  void add_idle(std::function<bool()> is_last_step) {
    const NoFork no_fork;
    const std::lock_guard lock(mutex_);
    if (!started_) start();
    idle_jobs_.push_back(std::move(is_last_step));
    changed_.notify_all();
  }

  // Waits until all current jobs are done; idle jobs run after all others.
  void wait() {
    if (!is_started()) return;
    const auto done = std::make_shared<std::promise<void>>();
    add_idle([done] {
      done->set_value();
      return true;
    });
    done->get_future().wait();
  }

  void pause(int by) {
    const NoFork no_fork;
    const std::lock_guard lock(mutex_);
    pauses_ += by;
    changed_.notify_all();
  }

  void await_pauses() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || pauses_ == 0; });
  }

  // Never destroyed, because its thread may outlive any owner. The child of a fork, which lacks the
  // thread, starts with a new worker.
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
      changed_.wait(lock, [&] { return stopped_ || (pauses_ == 0 && has_jobs()); });
      if (stopped_) break;
      if (jobs_.empty()) {
        step(lock);
        continue;
      }
      std::packaged_task<void()> task = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      task();
      task = {};  // destroys the task's captures without the lock
      lock.lock();
    }
    ended_ = true;
    changed_.notify_all();
  }

  bool has_jobs() const { return !jobs_.empty() || !idle_jobs_.empty(); }

  // Runs one step of the first idle job, which stays first until it is done.
  void step(std::unique_lock<std::mutex>& lock) {
    std::function<bool()> is_last_step = std::move(idle_jobs_.front());
    idle_jobs_.pop_front();
    lock.unlock();
    bool is_done = true;
    try {
      is_done = is_last_step();
    } catch (const std::exception& error) {
      TULLE_LOG(Info, "given up in the background: ", error.what());
    }
    if (is_done) is_last_step = {};
    lock.lock();
    if (!is_done) idle_jobs_.push_front(std::move(is_last_step));
  }

  void stop() {
    std::unique_lock lock(mutex_);
    if (!started_) return;
    stopped_ = true;
    const size_t dropped = jobs_.size() + idle_jobs_.size();
    if (dropped > 0) TULLE_LOG(Info, dropped, " jobs in the background are dropped");
    changed_.notify_all();
    changed_.wait(lock, [&] { return ended_; });
  }

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> jobs_;
  std::deque<std::function<bool()>> idle_jobs_;
  int pauses_ = 0;
  bool started_ = false, stopped_ = false, ended_ = false;
};

}  // namespace

std::shared_future<void> in_background(std::function<void()> job) {
  return Worker::instance().add(std::move(job));
}

void in_idle_background(std::function<bool()> is_last_step) {
  Worker::instance().add_idle(std::move(is_last_step));
}

void await_background() { Worker::instance().wait(); }

BackgroundPause::BackgroundPause() { Worker::instance().pause(1); }
BackgroundPause::~BackgroundPause() { Worker::instance().pause(-1); }

void await_pauses() { Worker::instance().await_pauses(); }

}  // namespace tulle
