// Finds accesses to one element that nothing orders; part of the interpreter.
#pragma once

#include <cstdint>
#include <string>

namespace tulle::loop {

// Who touches an element, and when. Blocks (iterations of a parallel loop) are never ordered;
// within one, a new phase begins at each barrier of the block, and in each warp a new warp phase at
// each barrier of the warp.
struct TrackedAccess {
  uint32_t block, phase, warp, warp_phase, thread;
};

// What happened to one element since the launch began. A write forgets the reads before it: they
// are ordered before it, or it is a race.
class History {
 public:
  // Raise an InternalError where an earlier access is not ordered before this one and one of them
  // is a plain write.
  void read(const TrackedAccess& access, uint32_t launch);
  void write(const TrackedAccess& access, uint32_t launch);
  void atomic(const TrackedAccess& access, uint32_t launch);

 private:
  // Accesses of one kind; where several are not ordered among themselves, the fields they differ in
  // are kMany.
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
