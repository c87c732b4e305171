// Level kinds and the coordinates of levels.
#include "format/level.h"

#include "support/check.h"

namespace tulle {

namespace {

struct KindTraits {
  std::string_view text;
  bool positions, coordinates, full;
};

const KindTraits& traits_of(LevelKind kind) {
  static constexpr KindTraits traits[] = {
#define X(name, text, pos, crd, full) {text, pos, crd, full},
      TULLE_LEVEL_KINDS(X)
#undef X
  };
  return traits[static_cast<size_t>(kind)];
}

}  // namespace

std::string_view text_of(LevelKind kind) { return traits_of(kind).text; }
bool stores_positions(LevelKind kind) { return traits_of(kind).positions; }
bool stores_coordinates(LevelKind kind) { return traits_of(kind).coordinates; }
bool is_full(LevelKind kind) { return traits_of(kind).full; }

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
