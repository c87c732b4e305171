// The formats of the general path: every operand can be sorted into the order of the loops, and
// every result can be built as coordinates and sorted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expr/expr.h"
#include "format/format.h"
#include "plan/order/loop_space.h"

namespace tulle::plan {

// The levels of a format as coordinates, one a level: what sorting brings into the format's order.
// `unique` where there are no entries with the same coordinates.
Format coordinates_of(const Format& format, bool ordered, bool unique);

// The format of an operand that loops in this order can walk over: a level for each loop over one
// of its indices. All levels are compressed, except for the first where `dense_first` holds.
Format format_in_order(const expr::Access& access, const Format& format,
                       const std::vector<std::string>& order, const LoopSpace& space,
                       const std::function<bool(const std::string& index)>& dense_first);

}  // namespace tulle::plan
