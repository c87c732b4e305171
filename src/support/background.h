// Work in a background thread.
#pragma once

#include <functional>
#include <future>

namespace tulle {

// Runs jobs one after the other, in order, in a thread of low priority. The future becomes ready
// when the job has returned or thrown. When the process exits, the running job finishes and queued
// jobs are dropped; the child of a fork drops all jobs.
std::shared_future<void> in_background(std::function<void()> job);

// Runs steps while there is no job: calls `is_last_step` repeatedly until it returns true or
// throws. Several such sequences run one after the other. Process exit and forks affect them as
// they affect jobs.
void in_idle_background(std::function<bool()> is_last_step);

// Waits until all earlier jobs and steps are done.
void await_background();

// While an instance lives, the background starts no job and no step, because a caller waits for the
// same kind of work. Several threads may hold one; jobs must not.
class BackgroundPause {
 public:
  BackgroundPause();
  ~BackgroundPause();
  BackgroundPause(const BackgroundPause&) = delete;
  BackgroundPause& operator=(const BackgroundPause&) = delete;
};

// Waits until no BackgroundPause lives. A long job calls it between its pieces.
void await_pauses();

}  // namespace tulle
