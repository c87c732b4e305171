// The levels of a format: the kind of each, and its coordinate in terms of the dimensions.
#pragma once

#include <cstdint>

#include "format/level_kind.h"

namespace tulle {

// The coordinate of a level in terms of one dimension: i, i/b or i%b.
struct LevelExpr {
  enum class Part : uint8_t { Whole, Quotient, Remainder };
  int dimension = 0;
  Part part = Part::Whole;
  int64_t divisor = 1;  // of Quotient and Remainder

  // How many coordinates the level has where the dimension has `size`.
  int64_t extent(int64_t size) const;
  int64_t coordinate(int64_t dimension_coordinate) const;
  bool operator==(const LevelExpr&) const = default;
};

struct Level {
  LevelExpr expr;
  LevelKind kind = LevelKind::Dense;
  bool unique = true;   // no coordinate twice under one parent
  bool ordered = true;  // coordinates ascend under one parent
  bool operator==(const Level&) const = default;
};

}  // namespace tulle
