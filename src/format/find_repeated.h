// Finds slots of unordered levels that have equal coordinates.
#pragma once

#include <optional>

#include "format/slot_run.h"
#include "support/parallelism.h"

namespace tulle {

struct RepeatedSlots {
  int64_t first, second;
};

// Returns the first slot whose parent and coordinates equal those of an earlier slot, and that
// earlier slot. Expected O(slots). Each thread builds a hash table of the slots whose hashes fall
// to it.
std::optional<RepeatedSlots> find_repeated(const SlotRun& run, DType index_type,
                                           Parallelism& parallelism, int threads);

}  // namespace tulle
