// The coordinates of levels.
#include "format/level.h"

#include "support/check.h"

namespace tulle {

int64_t LevelExpr::extent(int64_t size) const {
  switch (part) {
    case Part::Whole:
      return size;
    case Part::Quotient:
      return size / divisor + (size % divisor != 0 ? 1 : 0);
    case Part::Remainder:
      return divisor;
  }
  internal_error("unknown part of a dimension");
}

int64_t LevelExpr::coordinate(int64_t dimension_coordinate) const {
  switch (part) {
    case Part::Whole:
      return dimension_coordinate;
    case Part::Quotient:
      return dimension_coordinate / divisor;
    case Part::Remainder:
      return dimension_coordinate % divisor;
  }
  internal_error("unknown part of a dimension");
}

}  // namespace tulle
