// Work that nobody waits for.
#pragma once

#include <functional>
#include <future>

namespace tulle {

// Does it on a thread of its own, one job after the other in their order, below the priority of
// others; the future is ready when it is done, whatever it threw. A job that is under way when the
// process ends is finished, those behind it are dropped, and so are all in the child of a fork.
std::shared_future<void> in_background(std::function<void()> job);

// Does a step whenever there is no job, again and again until it says that it was the last one, or
// throws; those given first come first. Ends with the process and in forks as jobs do.
void in_idle_background(std::function<bool()> is_last_step);

// Returns when all that was given before is done.
void await_background();

// While one lives, nothing new begins in the background: somebody waits for the same kind of work.
// May live in several threads, but not in jobs.
class BackgroundPause {
 public:
  BackgroundPause();
  ~BackgroundPause();
  BackgroundPause(const BackgroundPause&) = delete;
  BackgroundPause& operator=(const BackgroundPause&) = delete;
};

// For jobs of several pieces, between these: returns when nothing pauses them.
void await_pauses();

}  // namespace tulle
