// Barriers and groups of threads that run in lockstep.
#include "loop/interpret/threads.h"

#include <algorithm>

#include "support/check.h"

namespace tulle::loop {

Threads::Threads(int count, int64_t most_steps)
    : active_(count, 1),
      warp_phases_((count + kWarpSize - 1) / kWarpSize, 0),
      steps_left_(most_steps) {}

bool Threads::any() const {
  return std::any_of(active_.begin(), active_.end(), [](uint8_t bit) { return bit != 0; });
}

void Threads::begin_block() {
  ++block_;
  ++phase_;
  std::fill(active_.begin(), active_.end(), uint8_t{1});
}

void Threads::barrier(BarrierScope scope) {
  if (scope == BarrierScope::Warp) {
    check_groups(kWarpSize, "barrier(warp)");
    for (int thread = 0; thread < count(); thread += kWarpSize)
      warp_phases_[thread / kWarpSize] += active_[thread];
    return;
  }
  if (std::find(active_.begin(), active_.end(), uint8_t{0}) != active_.end()) {
    internal_error("a barrier(block) that only some threads of the block reach");
  }
  ++phase_;
}

void Threads::check_groups(int width, std::string_view what) const {
  for (int first = 0; first < count(); first += width) {
    const int last = std::min(first + width, count());
    for (int thread = first; thread < last; ++thread) {
      if (active_[thread] != active_[first]) {
        internal_error(what, " that thread ", thread, " and thread ", first,
                       " do not reach together");
      }
    }
  }
}

void Threads::count_step() {
  if (--steps_left_ < 0) internal_error("the loops exceed the allowed number of steps");
}

}  // namespace tulle::loop
