// The table of level kinds and their properties. The compiler queries properties instead of
// comparing kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tulle/dtype.h"

namespace tulle {

// The relation of a level's slots to their parents (the slots of the level above), and the arrays
// that the level stores.
struct LevelProperties {
  bool positions = false;  // stores `pos`: the slot range of each parent
  bool coordinates =
      false;          // stores `crd`: the coordinate of each slot; else it follows from the slot
  bool full = false;  // each parent has a slot for every coordinate
  bool branchless = false;  // each parent has one slot, with the same number as the parent
  bool direct = false;      // the slot of a coordinate is parent * extent + coordinate
  bool marked = false;      // stores one byte per slot: whether the slot holds an entry
  bool bounded = false;     // the coordinate above determines bounds of the entries
  bool width = false;       // each parent has as many slots as the argument of the kind
};

// X(enumerator, text, properties...)
#define TULLE_LEVEL_KINDS(X)                                          \
  X(Dense, "dense", .full = true, .direct = true)                     \
  X(Compressed, "compressed", .positions = true, .coordinates = true) \
  X(Singleton, "singleton", .coordinates = true, .branchless = true)  \
  X(Padded, "padded", .coordinates = true, .width = true)             \
  X(Ragged, "ragged", .positions = true)                              \
  X(Range, "range", .direct = true, .bounded = true)                  \
  X(Bitmap, "bitmap", .direct = true, .marked = true)

enum class LevelKind : uint8_t {
#define X(name, text, ...) name,
  TULLE_LEVEL_KINDS(X)
#undef X
};

inline constexpr LevelKind kLevelKinds[] = {
#define X(name, text, ...) LevelKind::name,
    TULLE_LEVEL_KINDS(X)
#undef X
};

inline constexpr LevelProperties kLevelProperties[] = {
#define X(name, text, ...) {__VA_ARGS__},
    TULLE_LEVEL_KINDS(X)
#undef X
};

constexpr const LevelProperties& properties_of(LevelKind kind) {
  return kLevelProperties[static_cast<size_t>(kind)];
}

constexpr bool stores_positions(LevelKind kind) { return properties_of(kind).positions; }
constexpr bool stores_coordinates(LevelKind kind) { return properties_of(kind).coordinates; }
constexpr bool stores_marks(LevelKind kind) { return properties_of(kind).marked; }
// Slots are located by arithmetic and iterated by counting.
constexpr bool is_full(LevelKind kind) { return properties_of(kind).full; }
constexpr bool is_branchless(LevelKind kind) { return properties_of(kind).branchless; }
constexpr bool is_direct(LevelKind kind) { return properties_of(kind).direct; }
constexpr bool is_bounded(LevelKind kind) { return properties_of(kind).bounded; }
constexpr bool has_width(LevelKind kind) { return properties_of(kind).width; }
// Every slot stores a coordinate.
constexpr bool fills_slots(LevelKind kind) { return stores_coordinates(kind) && !has_width(kind); }
// The slots of a parent are its coordinates from 0 on; positions give their number.
constexpr bool is_prefix(LevelKind kind) {
  return stores_positions(kind) && !stores_coordinates(kind);
}
// Whether slots without an entry count as entries of value 0: the padding of a band or a row.
constexpr bool pads_with_entries(LevelKind kind) {
  return is_full(kind) || is_prefix(kind) || is_bounded(kind);
}

// The element type of `crd` in a tensor with that index type.
constexpr DType coordinate_type(LevelKind kind, DType index_type) {
  return stores_marks(kind) ? DType::Bool : index_type;
}

// The value in `crd` that marks an unused slot.
inline constexpr int64_t kUnused = -1;

std::string_view text_of(LevelKind kind);
// The kinds that satisfy the predicate: "compressed or singleton".
std::string text_of_kinds(bool (*wanted)(LevelKind), std::string_view conjunction);

}  // namespace tulle
