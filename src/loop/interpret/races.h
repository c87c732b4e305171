// Detects unordered accesses to one element.
#pragma once

#include <cstdint>
#include <string>

namespace tulle::loop {

// The position of an access in the execution order. Blocks (iterations of a parallel loop) are
// unordered. Within a block, each block barrier starts a new phase, and each warp barrier starts a
// new warp phase of its warp.
struct TrackedAccess {
  uint32_t block, phase, warp, warp_phase, thread;
};

// The accesses to one element since the launch started. A write discards earlier reads, because
// they are either ordered before it or reported as a race.
class History {
 public:
  // Raise an InternalError if an earlier access is unordered with this one and one of the two is a
  // plain write.
  void read(const TrackedAccess& access, uint32_t launch);
  void write(const TrackedAccess& access, uint32_t launch);
  void atomic(const TrackedAccess& access, uint32_t launch);

 private:
  // Accesses of one kind. If several are unordered, the fields in which they differ are kMany.
  struct Group {
    bool any = false;
    TrackedAccess last{};
    void add(const TrackedAccess& access);
    bool conflicts(const TrackedAccess& access) const;
  };

  void begin(uint32_t launch);

  uint32_t launch_ = 0;
  Group reads_, writes_, atomics_;
};

}  // namespace tulle::loop
