// Finds call frames.
#include "call_frames.h"

#include <memory>
#include <vector>

#include "devices.h"
#include "tulle/error.h"

namespace tulle::shim {

namespace {

struct CallFrames {
  std::vector<std::unique_ptr<CallFrame>> by_number;
  uint64_t changes = 0;  // the last processed table_changes()

  void drop_removed() {
    if (changes == table_changes()) return;
    changes = table_changes();
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

}  // namespace

CallFrame& call_frame_of(AtenTensorHandle head) {
  if (!has_type(head, DType::Int64) || element_count(head) < 1 || device_of(head).is_cuda()) {
    throw UserError("Expected the program's number and the sizes, but found " + describe(head) +
                    ".");
  }
  check_memory("The sizes", head);
  const int64_t number = *static_cast<const int64_t*>(data_of(head));
  auto& by_number = frames().by_number;
  const auto at = static_cast<size_t>(number);
  if (number < 0 || at >= by_number.size() || !by_number[at]) {
    auto prepared = numbered_program(number);
    if (at >= by_number.size()) by_number.resize(at + 1);
    by_number[at] = std::make_unique<CallFrame>(std::move(prepared));
  }
  note_use(by_number[at]->prepared());
  return *by_number[at];
}

}  // namespace tulle::shim
