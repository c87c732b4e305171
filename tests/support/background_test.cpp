// Background jobs.
#include "support/background.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace tulle {
namespace {

TEST(Background, RunsJobsInTheirOrder) {
  std::vector<int> seen;
  for (int job = 0; job < 20; ++job) in_background([&, job] { seen.push_back(job); });
  await_background();
  std::vector<int> wanted(20);
  for (int job = 0; job < 20; ++job) wanted[static_cast<size_t>(job)] = job;
  EXPECT_EQ(seen, wanted);
}

TEST(Background, TellsWhenAJobIsDone) {
  std::promise<void> gate;
  std::atomic<bool> is_done = false;
  const std::shared_future<void> done = in_background([&] {
    gate.get_future().wait();
    is_done = true;
  });
  EXPECT_FALSE(is_done);
  gate.set_value();
  done.wait();
  EXPECT_TRUE(is_done);
}

TEST(Background, GoesOnAfterAJobThatThrows) {
  const std::shared_future<void> failed = in_background([] { throw std::runtime_error("broken"); });
  std::atomic<bool> is_done = false;
  in_background([&] { is_done = true; }).wait();
  EXPECT_TRUE(is_done);
  EXPECT_THROW(failed.get(), std::runtime_error);
}

TEST(Background, IdleStepsComeBehindAllJobs) {
  std::promise<void> gate;
  in_background([&] { gate.get_future().wait(); });
  std::string seen;
  int steps = 0;
  in_idle_background([&] {
    seen += 's';
    if (++steps == 2) in_background([&] { seen += 'j'; });  // runs between two steps
    return steps == 4;
  });
  in_idle_background([&] {
    seen += 'x';
    return true;
  });
  in_background([&] { seen += 'j'; });
  gate.set_value();
  await_background();
  EXPECT_EQ(seen, "jssjssx");
}

TEST(Background, AnIdleStepThatThrowsIsTheLast) {
  int steps = 0;
  in_idle_background([&]() -> bool {
    ++steps;
    throw std::runtime_error("broken");
  });
  await_background();
  EXPECT_EQ(steps, 1);
}

TEST(Background, BeginsNothingWhileItIsPaused) {
  std::atomic<int> begun = 0, pieces = 0;
  std::promise<void> half_done;
  {
    const BackgroundPause one;
    {
      const BackgroundPause other;
      in_background([&] { ++begun; });
      in_idle_background([&] {
        ++begun;
        return true;
      });
    }
    usleep(20'000);
    EXPECT_EQ(begun, 0);
  }
  await_background();
  EXPECT_EQ(begun, 2);

  std::promise<void> gate;
  const std::shared_future<void> done = in_background([&] {
    ++pieces;
    half_done.set_value();
    gate.get_future().wait();
    await_pauses();
    ++pieces;
  });
  half_done.get_future().wait();
  {
    const BackgroundPause pause;
    gate.set_value();
    usleep(20'000);
    EXPECT_EQ(pieces, 1);
  }
  done.wait();
  EXPECT_EQ(pieces, 2);
}

// The child lacks the thread and must not wait for it, also not at its exit.
TEST(Background, DoesNotHoldUpTheChildOfAFork) {
  in_background([] {}).wait();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    await_background();
    std::exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// A process that exits finishes the running job and drops queued jobs.
TEST(Background, EndsWithTheProcess) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  EXPECT_EXIT(
      {
        std::promise<void> begun;
        in_background([&] {
          begun.set_value();
          usleep(50'000);
          if (write(pipe_ends[1], "a", 1) != 1) abort();
        });
        in_background([&] {
          if (write(pipe_ends[1], "b", 1) != 1) abort();
        });
        begun.get_future().wait();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
  close(pipe_ends[1]);
  char text[4] = {};
  EXPECT_EQ(read(pipe_ends[0], text, 3), 1);
  EXPECT_EQ(text[0], 'a');
  close(pipe_ends[0]);
}

}  // namespace
}  // namespace tulle
