// The functions of the C library that generated code calls.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "loop/expr.h"

namespace tulle::codegen {

// Whether the C library computes it; the other functions are instructions.
bool is_library_function(loop::Function function);

// The name of the C function, "sin" or "sinf"; an InternalError if the library does not compute
// this one.
std::string library_name(loop::Function function, bool is_double);

// All of them with their addresses, for the loader; the functions of loop/abi.h come beside them.
std::vector<std::pair<std::string, void*>> library_symbols();

}  // namespace tulle::codegen
