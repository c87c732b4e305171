// Reads the text that print.h writes.
#pragma once

#include <string_view>

#include "loop/host.h"

namespace tulle::loop {

// One kernel, or a host program followed by its kernels. Comments run from // to the end of the
// line. A mistake raises a UserError that points at it; what only the whole tree shows (names
// declared twice, misplaced loops) is for verify.h.
Kernel parse_kernel(std::string_view text);
HostProgram parse_host_program(std::string_view text);

}  // namespace tulle::loop
