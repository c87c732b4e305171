// Builds kernels from text templates.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loop/host.h"

namespace tulle::passes {

// Parses the text after replacing each word by its value, in this order. A word whose value may
// contain other words must come before them.
using Substitutions = std::vector<std::pair<std::string_view, std::string>>;
loop::Kernel kernel_of_text(std::string text, const Substitutions& words);

}  // namespace tulle::passes
