// Slots of unordered levels that have the same coordinates.
#pragma once

#include <optional>

#include "format/slot_run.h"
#include "support/parallelism.h"

namespace tulle {

struct RepeatedSlots {
  int64_t first, second;
};

// The first slot that has the same parent and coordinates as one before it, which may be any.
// Expected O(slots) with a table of all slots; threads share it by the hash of what is in it.
std::optional<RepeatedSlots> find_repeated(const SlotRun& run, DType index_type,
                                           Parallelism& parallelism, int threads);

}  // namespace tulle
