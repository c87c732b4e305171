// First fit, from the largest on.
#include "support/pack.h"

#include <algorithm>
#include <numeric>

namespace tulle {

std::vector<std::vector<size_t>> pack(const std::vector<size_t>& sizes) {
  std::vector<size_t> by_size(sizes.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
  std::vector<std::vector<size_t>> groups;
  std::vector<size_t> rooms;
  for (const size_t thing : by_size) {
    const auto fits =
        std::find_if(rooms.begin(), rooms.end(), [&](size_t room) { return room >= sizes[thing]; });
    if (fits == rooms.end()) {
      groups.push_back({thing});
      rooms.push_back(sizes[by_size.front()] - sizes[thing]);
    } else {
      groups[static_cast<size_t>(fits - rooms.begin())].push_back(thing);
      *fits -= sizes[thing];
    }
  }
  return groups;
}

}  // namespace tulle
