// The functions of loop/abi.h that compiled kernels import.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tulle::runtime {

// Names and addresses, for the loader.
std::vector<std::pair<std::string, void*>> kernel_symbols();

}  // namespace tulle::runtime
