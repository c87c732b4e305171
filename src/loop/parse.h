// Parses the text that print.h writes.
#pragma once

#include <string_view>

#include "loop/host.h"

namespace tulle::loop {

// Parses one kernel, or a host program followed by its kernels. Comments extend from // to the end
// of the line. A syntax error raises a UserError that points at it. Errors that depend on the whole
// tree (duplicate names, misplaced loops) are left to verify.h.
Kernel parse_kernel(std::string_view text);
HostProgram parse_host_program(std::string_view text);

}  // namespace tulle::loop
