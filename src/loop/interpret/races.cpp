// The order between two accesses, and a compact summary of all earlier accesses.
#include "loop/interpret/races.h"

#include "support/check.h"

namespace tulle::loop {

namespace {

constexpr uint32_t kMany = ~0u;

bool differ(uint32_t a, uint32_t b) { return a != b || a == kMany; }

std::string name_of(const TrackedAccess& access) {
  if (access.block == kMany) return "several blocks";
  if (access.thread == kMany) return concat("several threads of block ", access.block);
  return access.block == 0 ? std::string("the code before the loop")
                           : concat("block ", access.block - 1, ", thread ", access.thread);
}

[[noreturn]] void report(const char* what, const TrackedAccess& before, const char* earlier,
                         const TrackedAccess& access) {
  internal_error("race: ", what, " by ", name_of(access), ", ", earlier, " by ", name_of(before));
}

}  // namespace

void History::Group::add(const TrackedAccess& access) {
  if (!any || (access.block == last.block && access.phase != last.phase)) {
    any = true;
    last = access;
    return;
  }
  if (differ(access.block, last.block)) {
    last.block = last.warp = last.thread = kMany;
  } else if (differ(access.warp, last.warp)) {
    last.warp = last.thread = kMany;
  } else if (access.warp_phase != last.warp_phase) {
    last = access;
  } else if (access.thread != last.thread) {
    last.thread = kMany;
  }
}

bool History::Group::conflicts(const TrackedAccess& access) const {
  if (!any) return false;
  if (differ(access.block, last.block)) return true;
  if (access.phase != last.phase) return false;
  if (differ(access.warp, last.warp)) return true;
  return access.warp_phase == last.warp_phase && differ(access.thread, last.thread);
}

void History::begin(uint32_t launch) {
  if (launch_ == launch) return;
  *this = {};
  launch_ = launch;
}

void History::read(const TrackedAccess& access, uint32_t launch) {
  begin(launch);
  if (writes_.conflicts(access)) report("read", writes_.last, "written", access);
  if (atomics_.conflicts(access)) report("read", atomics_.last, "changed atomically", access);
  reads_.add(access);
}

void History::write(const TrackedAccess& access, uint32_t launch) {
  begin(launch);
  if (writes_.conflicts(access)) report("written", writes_.last, "also written", access);
  if (reads_.conflicts(access)) report("written", reads_.last, "read", access);
  if (atomics_.conflicts(access)) report("written", atomics_.last, "changed atomically", access);
  reads_.any = atomics_.any = false;
  writes_.any = true;
  writes_.last = access;
}

void History::atomic(const TrackedAccess& access, uint32_t launch) {
  begin(launch);
  if (writes_.conflicts(access)) report("changed atomically", writes_.last, "written", access);
  if (reads_.conflicts(access)) report("changed atomically", reads_.last, "read", access);
  atomics_.add(access);
}

}  // namespace tulle::loop
