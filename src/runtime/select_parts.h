// Which part of a composite format each entry of a tensor belongs to.
#pragma once

#include <cstdint>
#include <vector>

#include "format/composite.h"
#include "format/level_storage.h"
#include "support/parallelism.h"

namespace tulle::runtime {

// The entries of a tensor as sorted coordinates, one array for each dimension of what the
// composite's selectors speak of (CompositeFormat::order), the first varying slowest.
struct SortedEntries {
  std::vector<int64_t> sizes;
  std::vector<ArrayView> coordinates;
  DType index_type = DType::Int32;
  int64_t count = 0;
};

// Writes the numbers of the entries, part by part and in their order within each, into `order`, and
// how many each part has into `counts`. O(entries log entries), in parallel over rows.
// UserError where an entry belongs to no part.
void select_parts(const CompositeFormat& format, const SortedEntries& entries,
                  Parallelism& parallelism, int64_t* order, int64_t* counts);

// Raises the UserError for the first entry that belongs to no part.
[[noreturn]] void fail_uncovered(const std::vector<int64_t>& coordinates);

}  // namespace tulle::runtime
