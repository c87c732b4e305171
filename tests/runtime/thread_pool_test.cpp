// Threads: every index once, nested, from many threads, after a fork, and within the limit.
#include "runtime/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace tulle::runtime {
namespace {

void expect_each_once(Parallelism& parallelism, int count) {
  std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
  parallel_for(parallelism, count, [&](int index) { ++seen[static_cast<size_t>(index)]; });
  for (const auto& times : seen) EXPECT_EQ(times, 1);
}

TEST(ThreadPool, CallsEachIndexOnce) {
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int count : {0, 1, 2, 100}) expect_each_once(pool, count);
  }
}

TEST(ThreadPool, Nests) {
  ThreadPool pool(3);
  std::atomic<int> sum = 0;
  parallel_for(pool, 10, [&](int a) { parallel_for(pool, 10, [&](int b) { sum += 10 * a + b; }); });
  EXPECT_EQ(sum, 4950);
}

TEST(ThreadPool, ServesManyCallersAtOnce) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) expect_each_once(pool, 5);
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(ThreadPool, WorksAfterFork) {
  expect_each_once(default_parallelism(), 50);
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> sum = 0;
    parallel_for(default_parallelism(), 100, [&](int index) { sum += index; });
    _exit(sum == 4950 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  expect_each_once(default_parallelism(), 50);
}

TEST(FewThreads, TakesNoMoreThanItMay) {
  ThreadPool pool(4);
  FewThreads two(pool, 2), one(pool, 1), many(pool, 9);
  EXPECT_EQ(two.threads(), 2);
  EXPECT_EQ(one.threads(), 1);
  EXPECT_EQ(many.threads(), 4);
  std::atomic<int> running = 0, most = 0;
  std::vector<int> visits(20, 0);
  parallel_for(two, 20, [&](int index) {
    most = std::max(most.load(), ++running);
    ++visits[static_cast<size_t>(index)];
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --running;
  });
  EXPECT_EQ(visits, std::vector<int>(20, 1));
  EXPECT_LE(most, 2);
  parallel_for(one, 5, [caller = std::this_thread::get_id()](int) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
}

}  // namespace
}  // namespace tulle::runtime
