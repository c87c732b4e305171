// Whether the loops build a sparse result in the order it is stored in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/steps.h"

namespace tulle::schedule {

struct Disorder {
  std::string problem;
  std::vector<Rewrite> remedies;  // of which one may help
};

// Entries of a result with a pattern of its own are appended as the loops come to them: the loops
// over its levels must stand outside all others, in the order of the levels, or in any
// where entries are listed without order. Nothing if they do.
std::optional<Disorder> find_disorder(const nest::Nest& nest);

}  // namespace tulle::schedule
