// The threads that run in lockstep: those of a GPU block, or the single thread of a CPU iteration.
#pragma once

#include <cstdint>
#include <vector>

#include "loop/gpu.h"
#include "loop/interpret/races.h"
#include "loop/stmt.h"

namespace tulle::loop {

class Threads {
 public:
  Threads(int count, int64_t most_steps);

  int count() const { return static_cast<int>(active_.size()); }
  bool active(int thread) const { return active_[thread] != 0; }
  // The threads that execute the current statement. Control flow narrows the mask and restores it.
  std::vector<uint8_t>& mask() { return active_; }
  bool any() const;

  // Starts the next block of a launch or iteration of a parallel loop, with all threads active.
  void begin_block();
  // Raises an InternalError unless all threads of the block, or all or none of each warp, reach the
  // barrier.
  void barrier(BarrierScope scope);
  // Raises an InternalError unless all or none of the threads of each group of `width` are active.
  void check_groups(int width, std::string_view what) const;
  // Counts a loop step. Raises an InternalError if the limit is exceeded.
  void count_step();

  TrackedAccess access(int thread) const {
    const auto warp = static_cast<uint32_t>(thread / kWarpSize);
    return {block_, phase_, warp, warp_phases_[warp], static_cast<uint32_t>(thread)};
  }

 private:
  std::vector<uint8_t> active_;
  std::vector<uint32_t> warp_phases_;
  uint32_t block_ = 0;  // 0 is the code before the loop
  uint32_t phase_ = 0;
  int64_t steps_left_;
};

}  // namespace tulle::loop
