// Greedy partition: the largest item first, each to the smallest group.
#include "support/pack.h"

#include <algorithm>
#include <numeric>

namespace tulle {

std::vector<std::vector<size_t>> pack(const std::vector<size_t>& sizes, size_t groups) {
  std::vector<size_t> by_size(sizes.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
  std::vector<std::vector<size_t>> packed;
  std::vector<size_t> filled;
  for (const size_t thing : by_size) {
    if (packed.size() < std::max<size_t>(1, groups)) {
      packed.push_back({thing});
      filled.push_back(sizes[thing]);
    } else {
      const auto least = std::min_element(filled.begin(), filled.end());
      packed[static_cast<size_t>(least - filled.begin())].push_back(thing);
      *least += sizes[thing];
    }
  }
  return packed;
}

}  // namespace tulle
