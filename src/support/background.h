// Work that nobody waits for.
#pragma once

#include <functional>
#include <future>

namespace tulle {

// Does it on a thread of its own, one job after the other in their order, below the priority of
// others; the future is ready when it is done, whatever it threw. A job that is under way when the
// process ends is finished, those behind it are dropped, and so are all in the child of a fork.
std::shared_future<void> in_background(std::function<void()> job);

// Returns when all that was given before is done.
void await_background();

}  // namespace tulle
