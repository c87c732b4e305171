// Sums each block, scans the sums, then scans each block.
#include "runtime/scan.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "support/check.h"
#include "tulle/type_names.h"

namespace tulle::runtime {

namespace {

constexpr int64_t kSerialBelow = 1 << 16;

template <typename T>
int64_t scan_block(T* counts, int64_t begin, int64_t end, int64_t sum) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t count = counts[i];
    counts[i] = static_cast<T>(sum);
    sum += count;
  }
  return sum;
}

template <typename T>
void scan(T* counts, int64_t length, const std::string& name, Parallelism& parallelism) {
  const int blocks = length < kSerialBelow ? 1 : parallelism.threads();
  const auto bound = [&](int block) { return length * block / blocks; };
  std::vector<int64_t> starts(static_cast<size_t>(blocks));
  int64_t total = 0;
  if (blocks == 1) {
    total = scan_block(counts, 0, length, 0);
  } else {
    parallel_for(parallelism, blocks, [&](int block) {
      int64_t sum = 0;
      for (int64_t i = bound(block); i < bound(block + 1); ++i) sum += counts[i];
      starts[static_cast<size_t>(block)] = sum;
    });
    for (int64_t& start : starts) start = std::exchange(total, total + start);
    parallel_for(parallelism, blocks, [&](int block) {
      scan_block(counts, bound(block), bound(block + 1), starts[static_cast<size_t>(block)]);
    });
  }
  if (total > std::numeric_limits<T>::max()) {
    user_error(name, " counts ", total, " entries, more than an ", long_name_of(DType::Int32),
               " holds; use 64-bit indices (index_dtype=torch.int64)");
  }
  counts[length] = static_cast<T>(total);
}

}  // namespace

void exclusive_scan(void* counts, DType element, int64_t length, const std::string& name,
                    Parallelism& parallelism) {
  TULLE_CHECK(length >= 0, "a scan of ", length, " elements of ", name);
  switch (element) {
    case DType::Int32:
      return scan(static_cast<int32_t*>(counts), length, name, parallelism);
    case DType::Int64:
      return scan(static_cast<int64_t*>(counts), length, name, parallelism);
    default:
      internal_error("a scan of ", name_of(element), ": ", name);
  }
}

}  // namespace tulle::runtime
