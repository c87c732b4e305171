// The formats in which the general path keeps tensors on their way: every operand can be sorted
// into the order of the loops, every result be built as coordinates and sorted.
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

// How to store an operand so that loops in this order can walk over it: a level for each loop over
// one of its indices, compressed but for the first where `dense_first` says so.
Format format_in_order(const expr::Access& access, const Format& format,
                       const std::vector<std::string>& order, const LoopSpace& space,
                       const std::function<bool(const std::string& index)>& dense_first);

}  // namespace tulle::plan
