// The C library functions that generated code calls.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "loop/expr.h"

namespace tulle::codegen {

// Whether the C library computes the function. Other functions are instructions.
bool is_library_function(loop::Function function);

// The name of the C function, for example "sin" or "sinf". Raises an InternalError if the library
// does not compute the function.
std::string library_name(loop::Function function, bool is_double);

// The names and addresses of all these functions, for the loader. The functions of loop/abi.h are
// separate.
std::vector<std::pair<std::string, void*>> library_symbols();

}  // namespace tulle::codegen
