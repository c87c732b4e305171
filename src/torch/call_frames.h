// The frames that a thread keeps for the programs it has called.
#pragma once

#include <cstdint>
#include <string_view>

#include "call_frame.h"

namespace tulle::shim {

// This thread's frame for the program of that key, or of that number. A warm look-up takes no lock.
// CallFrames of programs that the table has removed go when the thread asks for a frame next.
CallFrame& call_frame_for(std::string_view key);
CallFrame& call_frame_for(int64_t number);

}  // namespace tulle::shim
