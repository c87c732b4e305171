// What passes have to say about what they left as it was; `explain` shows it.
#pragma once

#include <string>
#include <vector>

namespace tulle::passes {

using Remarks = std::vector<std::string>;

}  // namespace tulle::passes
