// Keeps other threads from forking in the middle of something.
#pragma once

namespace tulle {

// While one lives, a fork by another thread waits. The child then inherits no lock of ours that is
// held and no structure that is half changed. Scopes may be nested. Enter it before taking the
// locks it protects, and wait inside only for threads that are inside too or never enter.
class NoFork {
 public:
  NoFork();
  ~NoFork();
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;
};

}  // namespace tulle
