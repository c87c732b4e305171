// Finds call frames.
#include "call_frames.h"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tulle::shim {

namespace {

struct Slot {
  std::string key;
  std::unique_ptr<CallFrame> frame;
};

struct CallFrames {
  std::array<Slot, 256> by_key;
  std::vector<std::unique_ptr<CallFrame>> by_number;
  uint64_t changes = 0;  // the last processed table_changes()

  void drop_removed() {
    if (changes == table_changes()) return;
    changes = table_changes();
    for (Slot& slot : by_key) drop_if_removed(slot.frame);
    for (std::unique_ptr<CallFrame>& frame : by_number) drop_if_removed(frame);
  }

  static void drop_if_removed(std::unique_ptr<CallFrame>& frame) {
    if (frame && !frame->prepared().is_kept) frame.reset();
  }
};

CallFrames& frames() {
  thread_local CallFrames frames;
  frames.drop_removed();
  return frames;
}

CallFrame& used(CallFrame& frame) {
  note_use(frame.prepared());
  return frame;
}

}  // namespace

CallFrame& call_frame_for(std::string_view key) {
  auto& slots = frames().by_key;
  Slot& slot = slots[std::hash<std::string_view>()(key) % slots.size()];
  if (slot.key != key || !slot.frame) {
    slot.frame = std::make_unique<CallFrame>(find_program(key));
    slot.key = key;
  }
  return used(*slot.frame);
}

CallFrame& call_frame_for(int64_t number) {
  auto& by_number = frames().by_number;
  const auto at = static_cast<size_t>(number);
  if (number < 0 || at >= by_number.size() || !by_number[at]) {
    auto prepared = numbered_program(number);
    if (at >= by_number.size()) by_number.resize(at + 1);
    by_number[at] = std::make_unique<CallFrame>(std::move(prepared));
  }
  return used(*by_number[at]);
}

}  // namespace tulle::shim
