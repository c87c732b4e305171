// Iterates over the coordinates of a tensor in row-major order.
#pragma once

#include <cstdint>
#include <vector>

namespace tulle::expr {

// The number of coordinates.
inline int64_t coordinate_count(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

// The row-major offset of a coordinate.
inline int64_t row_major(const std::vector<int64_t>& sizes,
                         const std::vector<int64_t>& coordinates) {
  int64_t at = 0;
  for (size_t d = 0; d < sizes.size(); ++d) at = at * sizes[d] + coordinates[d];
  return at;
}

// Calls visit(coordinates) for each, the last dimension fastest.
template <typename Visit>
void for_each_coordinate(const std::vector<int64_t>& sizes, const Visit& visit) {
  std::vector<int64_t> coordinates(sizes.size(), 0);
  for (int64_t left = coordinate_count(sizes); left > 0; --left) {
    visit(coordinates);
    for (size_t d = sizes.size(); d-- > 0;) {
      if (++coordinates[d] < sizes[d]) break;
      coordinates[d] = 0;
    }
  }
}

}  // namespace tulle::expr
