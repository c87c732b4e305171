// Statistics of an operand. Large operands are sampled.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tulle/dtype.h"

namespace tulle::plan {

struct OperandStatistics {
  std::vector<int64_t> sizes;
  int64_t count = 0;  // stored values; in a bitmap, only the marked ones
  double distinct_share =
      1.0;  // the share of neighbouring entries with a coordinate that none before them has
  int64_t longest_row = 0;  // the maximum number of entries in a row; 0: unknown
};

// The cache behaviour of gathers along the coordinates. Near: neighbouring entries filled the
// nearer caches (bands). Mixed: often (communities). Scattered: rarely.
enum class Locality { Near, Mixed, Scattered };

Locality locality_of(double distinct_share);
std::string_view name_of(Locality locality);

// The distinct_share of the coordinates in an operand's last level, from a few windows of entries.
// Near 1: gathers miss the caches. Near 0: neighbouring entries gather the same rows (bands,
// communities).
double sample_distinct_share(const void* coordinates, int64_t count, DType index_type);

// The share of byte marks that are set, estimated from a few words.
double sample_marked_share(const void* marks, int64_t count);

// A hash of sampled coordinates. Detects new contents in reused memory.
uint64_t fingerprint(const void* coordinates, int64_t count, DType index_type);

}  // namespace tulle::plan
