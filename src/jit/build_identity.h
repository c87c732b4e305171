// The identity of this build of the library.
#pragma once

#include <string>

namespace tulle::jit {

// Changes with every change of the library, including its code generator and the linked LLVM: the
// linker's build id, or else the size and time of the library file. Empty if neither can be read.
const std::string& build_identity();

}  // namespace tulle::jit
