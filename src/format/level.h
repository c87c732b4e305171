// The levels of a format: the kind of each, and its coordinate in terms of the dimensions.
#pragma once

#include <cstdint>
#include <vector>

#include "format/level_kind.h"

namespace tulle {

// The coordinate of a level in terms of the dimensions: i, i/b, i%b or j-i.
struct LevelExpr {
  enum class Part : uint8_t { Whole, Quotient, Remainder, Difference };
  int dimension = 0;
  Part part = Part::Whole;
  int64_t divisor = 1;  // of Quotient and Remainder
  int second = -1;      // of Difference: the dimension that is subtracted

  bool is_whole() const { return part == Part::Whole; }
  bool is_difference() const { return part == Part::Difference; }
  // How many coordinates the level has in a tensor of these sizes, and the first of them.
  int64_t extent(const std::vector<int64_t>& sizes) const;
  int64_t first(const std::vector<int64_t>& sizes) const;
  // At these coordinates of the tensor.
  int64_t coordinate(const std::vector<int64_t>& coordinates) const;
  bool operator==(const LevelExpr&) const = default;
};

struct Level {
  LevelExpr expr;
  LevelKind kind = LevelKind::Dense;
  bool unique = true;    // no coordinate twice under one parent
  bool ordered = true;   // coordinates ascend under one parent
  int64_t width = 0;     // of kinds that have one: slots of each parent
  int64_t multiple = 1;  // the number of slots under one parent is rounded up to it

  // Whether slots may hold no entry, and be no padding either: those of `crd` that are marked.
  bool has_unused() const { return has_width(kind) || multiple > 1; }
  // Whether there may be slots that hold no entry of their own.
  bool has_gaps() const {
    return has_unused() || is_prefix(kind) || (is_direct(kind) && !is_full(kind));
  }
  bool operator==(const Level&) const = default;
};

}  // namespace tulle
