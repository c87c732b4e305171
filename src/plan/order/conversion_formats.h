// The formats of the general path, which works for any loop order. It sorts each operand into the
// order of the loops, and it can build each result as coordinates and sort them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expr/expr.h"
#include "format/format.h"
#include "plan/order/loop_space.h"

namespace tulle::plan {

// The format as a list with one coordinate per level, for sorting into the format's order. `unique`
// promises that no two entries have the same coordinates.
Format coordinates_of(const Format& format, bool ordered, bool unique);

// The format that loops in this order can walk over, with one level for each loop over one of the
// operand's indices. All levels are compressed, except that `dense_first` makes the first one
// dense.
Format format_in_order(const expr::Access& access, const Format& format,
                       const std::vector<std::string>& order, const LoopSpace& space,
                       const std::function<bool(const std::string& index)>& dense_first);

}  // namespace tulle::plan
