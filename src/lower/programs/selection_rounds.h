// The choices of a composite format, in rounds that each visit all entries once.
#pragma once

#include <vector>

#include "format/composite.h"

namespace tulle::lower {

// A selector for all column ranges of its group at once. The ranges have no common entries, and the
// selector only depends on one range.
struct Choice {
  Selector selector;
  int64_t ranges = 1;
  int64_t part = 0;  // the number of the part for the first range
  int64_t step = 0;  // the difference between the parts of consecutive ranges
};

// Choices to evaluate one after the other for each entry, after counting for the first one.
using Round = std::vector<Choice>;

// Whether the selector only depends on the coordinates of an entry and counts nothing.
bool looks_at_entry_alone(const Selector& selector);

// All choices. Their order assigns entries like the order of the parts.
std::vector<Round> selection_rounds(const CompositeFormat& format);

}  // namespace tulle::lower
