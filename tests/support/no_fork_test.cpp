// NoFork: forks wait for threads that hold one, and the child can continue.
#include "support/no_fork.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tulle {
namespace {

using std::chrono::milliseconds;

int status_of(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(NoFork, AForkWaitsForThreadsInside) {
  std::atomic<bool> inside = false, leaving = false;
  std::thread worker([&] {
    const NoFork outer;
    const NoFork inner;
    inside = true;
    std::this_thread::sleep_for(milliseconds(50));
    leaving = true;
  });
  while (!inside) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) _exit(leaving ? 0 : 1);
  EXPECT_EQ(status_of(child), 0);
  worker.join();
}

TEST(NoFork, TheThreadInsideMayForkItself) {
  const NoFork outer;
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const NoFork again;
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(0);
    _exit(status_of(grandchild));
  }
  EXPECT_EQ(status_of(child), 0);
}

TEST(NoFork, LocksTakenInsideAreFreeInTheChild) {
  std::mutex mutex;
  int64_t left = 0, right = 0;  // equal whenever the mutex is free
  std::atomic<bool> stop = false;
  std::vector<std::thread> workers;
  for (int t = 0; t < 3; ++t) {
    workers.emplace_back([&] {
      while (!stop) {
        const NoFork no_fork;
        const std::lock_guard lock(mutex);
        ++left;
        std::this_thread::yield();
        ++right;
      }
    });
  }
  // Two threads fork; each child creates a NoFork and forks again.
  const auto fork_often = [&] {
    for (int round = 0; round < 50; ++round) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);
        const NoFork no_fork;
        const std::lock_guard lock(mutex);
        _exit(left == right ? 0 : 1);
      }
      EXPECT_EQ(status_of(child), 0);
    }
  };
  std::thread other(fork_often);
  fork_often();
  other.join();
  stop = true;
  for (std::thread& worker : workers) worker.join();
}

}  // namespace
}  // namespace tulle
