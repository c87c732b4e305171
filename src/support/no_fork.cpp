// Counts the threads with an instance. A fork handler waits until there are none and blocks new
// ones.
#include "support/no_fork.h"

#include <condition_variable>
#include <mutex>
#include <new>
#include <pthread.h>

namespace tulle {

namespace {

struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;  // number of threads with an instance
  bool forking = false;
};

thread_local int depth = 0;  // number of instances in this thread

Gate& gate();

void before_fork() {
  std::unique_lock lock(gate().mutex);
  gate().changed.wait(lock, [] { return !gate().forking; });
  gate().forking = true;
  const int own = depth > 0 ? 1 : 0;
  gate().changed.wait(lock, [&] { return gate().inside == own; });
}

void after_fork_in_parent() {
  {
    const std::lock_guard lock(gate().mutex);
    gate().forking = false;
  }
  gate().changed.notify_all();
}

// In the child, waiting threads do not exist, and one of them may own the mutex: create a new
// state.
void after_fork_in_child() {
  new (&gate()) Gate;
  gate().inside = depth > 0 ? 1 : 0;
}

// Never destroyed: threads may hold an instance when the process exits.
Gate& gate() {
  static Gate& instance = []() -> Gate& {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    return *new Gate;
  }();
  return instance;
}

// Created while the library is loaded, so that no fork can interrupt it.
[[maybe_unused]] const Gate& made_early = gate();

}  // namespace

NoFork::NoFork() {
  if (depth++ > 0) return;
  std::unique_lock lock(gate().mutex);
  gate().changed.wait(lock, [] { return !gate().forking; });
  ++gate().inside;
}

NoFork::~NoFork() {
  if (--depth > 0) return;
  bool awaited = false;
  {
    const std::lock_guard lock(gate().mutex);
    --gate().inside;
    awaited = gate().forking;
  }
  if (awaited) gate().changed.notify_all();
}

}  // namespace tulle
