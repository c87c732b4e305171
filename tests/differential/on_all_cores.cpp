// Threads take the next piece until all are done.
#include "differential/on_all_cores.h"

#include <atomic>
#include <sched.h>
#include <thread>
#include <vector>

namespace tulle::differential {

namespace {

int usable_cores() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

}  // namespace

void on_all_cores(size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  std::vector<std::thread> workers;
  for (int w = 0; w < usable_cores(); ++w) {
    workers.emplace_back([&] {
      for (size_t at = next++; at < count; at = next++) work(at);
    });
  }
  for (std::thread& worker : workers) worker.join();
}

}  // namespace tulle::differential
