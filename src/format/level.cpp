// Coordinates of levels.
#include "format/level.h"

#include <algorithm>

#include "support/check.h"

namespace tulle {

int64_t LevelExpr::extent(const std::vector<int64_t>& sizes) const {
  const int64_t size = sizes[static_cast<size_t>(dimension)];
  switch (part) {
    case Part::Whole:
      return size;
    case Part::Quotient:
      return size / divisor + (size % divisor != 0 ? 1 : 0);
    case Part::Remainder:
      return divisor;
    case Part::Difference: {
      const int64_t other = sizes[static_cast<size_t>(second)];
      return size > 0 && other > 0 ? size + other - 1 : 0;
    }
  }
  internal_error("unknown part of a dimension");
}

int64_t LevelExpr::first(const std::vector<int64_t>& sizes) const {
  return is_difference() ? std::min<int64_t>(0, 1 - sizes[static_cast<size_t>(second)]) : 0;
}

int64_t LevelExpr::coordinate(const std::vector<int64_t>& coordinates) const {
  const int64_t whole = coordinates[static_cast<size_t>(dimension)];
  switch (part) {
    case Part::Whole:
      return whole;
    case Part::Quotient:
      return whole / divisor;
    case Part::Remainder:
      return whole % divisor;
    case Part::Difference:
      return whole - coordinates[static_cast<size_t>(second)];
  }
  internal_error("unknown part of a dimension");
}

}  // namespace tulle
