// Checks whether the loops build a sparse result in its storage order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/steps.h"

namespace tulle::schedule {

struct Disorder {
  std::string problem;
  std::vector<Rewrite> remedies;  // candidates, not yet tried
};

// Loops append entries to a result with its own pattern. So the loops over its levels must be
// outside all other loops and in the order of the levels. A list without order accepts them in any
// order. Returns nothing if the loops satisfy this.
std::optional<Disorder> find_disorder(const nest::Nest& nest);

}  // namespace tulle::schedule
