// Padding by full levels.
#include "expr/padding.h"

#include <set>

#include "expr/coordinates.h"

namespace tulle::expr {

std::vector<int64_t> level_coordinates(const Format& format,
                                       const std::vector<int64_t>& coordinates) {
  std::vector<int64_t> result;
  for (const Level& level : format.levels()) {
    result.push_back(level.expr.coordinate(coordinates[static_cast<size_t>(level.expr.dimension)]));
  }
  return result;
}

int sparse_level_count(const Format& format) {
  int count = format.level_count();
  while (count > 0 && is_full(format.levels()[static_cast<size_t>(count - 1)].kind)) --count;
  return count;
}

std::vector<bool> with_padding(const Format& format, const std::vector<int64_t>& sizes,
                               const std::vector<bool>& entries) {
  const auto above = static_cast<size_t>(sparse_level_count(format));
  const auto parent = [&](const std::vector<int64_t>& coordinates) {
    std::vector<int64_t> levels = level_coordinates(format, coordinates);
    levels.resize(above);
    return levels;
  };
  std::set<std::vector<int64_t>> parents;
  if (above == 0) parents.insert(std::vector<int64_t>());
  for_each_coordinate(sizes, [&](const std::vector<int64_t>& coordinates) {
    if (entries[static_cast<size_t>(row_major(sizes, coordinates))])
      parents.insert(parent(coordinates));
  });
  std::vector<bool> result;
  result.reserve(entries.size());
  for_each_coordinate(sizes, [&](const std::vector<int64_t>& coordinates) {
    result.push_back(parents.contains(parent(coordinates)));
  });
  return result;
}

}  // namespace tulle::expr
