// What a rewrite says about a step that is legal and perhaps not meant.
#pragma once

#include <string>
#include <vector>

#include "support/check.h"

namespace tulle::schedule {

using Remarks = std::vector<std::string>;

// Adds a remark where someone listens.
template <typename... Parts>
void remark(Remarks* remarks, const Parts&... parts) {
  if (remarks) remarks->push_back(concat(parts...));
}

}  // namespace tulle::schedule
