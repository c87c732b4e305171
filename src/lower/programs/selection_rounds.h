// The choices of a composite format, in rounds that look at all entries once.
#pragma once

#include <vector>

#include "format/composite.h"

namespace tulle::lower {

// A selector in all column ranges of its group at once: these have no entry in common, and it looks
// at one at a time.
struct Choice {
  Selector selector;
  int64_t ranges = 1;
  int64_t part = 0;  // the number of its part in the first range
  int64_t step = 0;  // to that in the next
};

// Choices that are made one after the other for each entry by itself, once it is known what the
// first of them counts.
using Round = std::vector<Choice>;

// Whether the selector knows an entry by its coordinates alone, and counts nothing.
bool looks_at_entry_alone(const Selector& selector);

// All choices, in an order that gives entries out as that of the parts does.
std::vector<Round> selection_rounds(const CompositeFormat& format);

}  // namespace tulle::lower
