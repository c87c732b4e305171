// The call frames of a thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "call_frame.h"

namespace tulle::shim {

// This thread's frame for the program with that key or number. A warm look-up takes no lock. When
// the program table has dropped programs, the next look-up frees their frames.
CallFrame& call_frame_for(std::string_view key);
CallFrame& call_frame_for(int64_t number);

}  // namespace tulle::shim
