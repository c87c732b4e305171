// The call frames of a thread.
#pragma once

#include "call_frame.h"

namespace tulle::shim {

// This thread's frame for the program whose number is the first element of `head`. A warm look-up
// takes no lock. When the program table has dropped programs, the next look-up frees their frames.
CallFrame& call_frame_of(AtenTensorHandle head);

// Releases what belongs to a call when the call ends.
struct ClearAfterCall {
  CallFrame& frame;
  ~ClearAfterCall() { frame.clear(); }
};

}  // namespace tulle::shim
