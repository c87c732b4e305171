// Which build of the library this is.
#pragma once

#include <string>

namespace tulle::jit {

// Changes whenever anything in the library does, its code generator and the LLVM inside included:
// the linker's build id, else the library file's size and time. Empty if neither can be read.
const std::string& build_identity();

}  // namespace tulle::jit
