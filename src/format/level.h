// The levels of a format: what each stores, and its coordinate in terms of the dimensions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tulle {

// X(enumerator, text, stores positions, stores coordinates, holds every coordinate of its extent)
#define TULLE_LEVEL_KINDS(X)                     \
  X(Dense, "dense", false, false, true)          \
  X(Compressed, "compressed", true, true, false) \
  X(Singleton, "singleton", false, true, false)

enum class LevelKind : uint8_t {
#define X(name, text, pos, crd, full) name,
  TULLE_LEVEL_KINDS(X)
#undef X
};

std::string_view text_of(LevelKind kind);
bool stores_positions(LevelKind kind);
bool stores_coordinates(LevelKind kind);
// Whether the level holds every coordinate, so that it is located by arithmetic and iterated by
// counting.
bool is_full(LevelKind kind);

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
