// Groups of levels in a sparse result that receive entries together: a level and the branchless
// levels directly below it.
#pragma once

#include <vector>

#include "format/format.h"

namespace tulle::lower {

// Levels first..last of the result. They receive one entry each when the coordinate of the last is
// known.
struct ResultGroup {
  int first;
  int last;
  bool is_counted;  // its number of positions requires counting its entries
};

// Outermost first. Levels with a slot for every coordinate and without marks belong to no group.
std::vector<ResultGroup> result_groups(const Format& format);

}  // namespace tulle::lower
