// Groups of levels of a sparse result that get their entries together: a level and the branchless
// levels right below it.
#pragma once

#include <vector>

#include "format/format.h"

namespace tulle::lower {

// Levels first..last of the result get one entry each when the coordinate of the last is known.
struct ResultGroup {
  int first;
  int last;
  bool is_counted;  // how many positions it has is only known when its entries are
};

// Outermost first. Levels that have a slot for every coordinate and mark none belong to no group.
std::vector<ResultGroup> result_groups(const Format& format);

}  // namespace tulle::lower
