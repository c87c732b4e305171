// A level of a format: its kind, and its coordinate as an expression of dimensions.
#pragma once

#include <cstdint>
#include <vector>

#include "format/level_kind.h"

namespace tulle {

// The coordinate of a level as an expression of dimensions: i, i/b, i%b or j-i.
struct LevelExpr {
  enum class Part : uint8_t { Whole, Quotient, Remainder, Difference };
  int dimension = 0;
  Part part = Part::Whole;
  int64_t divisor = 1;  // for Quotient and Remainder
  int second = -1;      // for Difference: the subtracted dimension

  bool is_whole() const { return part == Part::Whole; }
  bool is_difference() const { return part == Part::Difference; }
  // The number of coordinates of the level in a tensor of these sizes, and the lowest coordinate.
  int64_t extent(const std::vector<int64_t>& sizes) const;
  int64_t first(const std::vector<int64_t>& sizes) const;
  // The coordinate of the level for these coordinates of the tensor.
  int64_t coordinate(const std::vector<int64_t>& coordinates) const;
  bool operator==(const LevelExpr&) const = default;
};

struct Level {
  LevelExpr expr;
  LevelKind kind = LevelKind::Dense;
  bool unique = true;    // no coordinate occurs twice under one parent
  bool ordered = true;   // coordinates ascend under one parent
  int64_t width = 0;     // for kinds with a width: the number of slots per parent
  int64_t multiple = 1;  // the number of slots per parent is rounded up to a multiple of it

  // Whether slots may be unused: they hold neither an entry nor padding, and `crd` marks them.
  bool has_unused() const { return has_width(kind) || multiple > 1; }
  // Whether slots may hold no entry of their own.
  bool has_gaps() const {
    return has_unused() || is_prefix(kind) || (is_direct(kind) && !is_full(kind));
  }
  bool operator==(const Level&) const = default;
};

}  // namespace tulle
