// Delays forks in other threads.
#pragma once

namespace tulle {

// While an instance lives, a fork in another thread waits. The child then inherits no locked mutex
// of Tulle and no partially modified data structure. Instances may nest. Create one before locking
// the mutexes it protects. While holding one, wait only for threads that hold one too or never
// create one.
class NoFork {
 public:
  NoFork();
  ~NoFork();
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;
};

}  // namespace tulle
