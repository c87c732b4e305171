// What plans know of an operand's data, sampled where it is large.
#pragma once

#include <cstdint>
#include <vector>

#include "tulle/dtype.h"

namespace tulle::plan {

struct OperandStatistics {
  std::vector<int64_t> sizes;
  int64_t count = 0;  // values stored
  double distinct_share =
      1.0;  // of neighbouring entries, how many have a coordinate that none before them had
};

// The distinct share from which on gathers along the coordinates miss the caches.
inline constexpr double kScattered = 0.4;

// distinct_share of the coordinates of an operand's last level, from a few windows of entries. Near
// 1: gathers along them miss the caches; near 0: neighbouring entries gather the same rows (bands,
// communities).
double sample_distinct_share(const void* coordinates, int64_t count, DType index_type);

}  // namespace tulle::plan
