// Statistics of an operand, sampled where it is large.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tulle/dtype.h"

namespace tulle::plan {

struct OperandStatistics {
  std::vector<int64_t> sizes;
  int64_t count = 0;  // values stored, where they are marked those that are entries
  double distinct_share =
      1.0;  // of neighbouring entries, how many have a coordinate that none before them had
  int64_t longest_row = 0;  // no row has more entries; 0: not known
};

// Where gathers along the coordinates find their rows: Near, in caches that neighbouring entries
// filled (bands); Mixed, often there (communities); Scattered, rarely.
enum class Locality { Near, Mixed, Scattered };

Locality locality_of(double distinct_share);
std::string_view name_of(Locality locality);

// distinct_share of the coordinates of an operand's last level, from a few windows of entries. Near
// 1: gathers along them miss the caches; near 0: neighbouring entries gather the same rows (bands,
// communities).
double sample_distinct_share(const void* coordinates, int64_t count, DType index_type);

// The number of marks, a byte each, that are set, estimated from a few words of them.
double sample_marked_share(const void* marks, int64_t count);

// A sample of the coordinates, which identifies them in memory that is reused.
uint64_t fingerprint(const void* coordinates, int64_t count, DType index_type);

}  // namespace tulle::plan
