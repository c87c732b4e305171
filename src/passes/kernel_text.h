// Kernels of ours that are written as text, with words in it that stand for the names at hand.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loop/host.h"

namespace tulle::passes {

// The kernel of the text, each word replaced by what it stands for, in this order. What may hold
// one of the words itself comes last.
using Words = std::vector<std::pair<std::string_view, std::string>>;
loop::Kernel kernel_of_text(std::string text, const Words& words);

}  // namespace tulle::passes
