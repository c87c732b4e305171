// Level kinds: the properties that tell them apart, which the rest of the compiler asks for instead
// of naming kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tulle/dtype.h"

namespace tulle {

// How slots of a level hang from those of the level above, their parents, and what is stored of
// them.
struct LevelProperties {
  bool positions = false;    // stores `pos`: where the slots of each parent begin and end
  bool coordinates = false;  // stores `crd`: the coordinate of each slot; else the slot tells it
  bool full = false;         // each parent has a slot for every coordinate of the extent
  bool branchless = false;   // each parent has one slot, with the parent's own number
  bool direct = false;       // a coordinate has the slot parent * extent + coordinate
  bool marked = false;       // stores a byte a slot: whether it holds an entry
  bool bounded = false;      // entries lie within bounds that follow from the coordinate above
  bool width = false;        // each parent has so many slots as the kind's argument says
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
// Located by arithmetic and iterated by counting.
constexpr bool is_full(LevelKind kind) { return properties_of(kind).full; }
constexpr bool is_branchless(LevelKind kind) { return properties_of(kind).branchless; }
constexpr bool is_direct(LevelKind kind) { return properties_of(kind).direct; }
constexpr bool is_bounded(LevelKind kind) { return properties_of(kind).bounded; }
constexpr bool has_width(LevelKind kind) { return properties_of(kind).width; }
// Every slot has a coordinate of its own.
constexpr bool fills_slots(LevelKind kind) { return stores_coordinates(kind) && !has_width(kind); }
// The slots of a parent are its coordinates from 0 on, as many as its positions say.
constexpr bool is_prefix(LevelKind kind) {
  return stores_positions(kind) && !stores_coordinates(kind);
}
// Whether a slot without an entry is one nevertheless, of value 0: what a band or a row is filled
// up with.
constexpr bool pads_with_entries(LevelKind kind) {
  return is_full(kind) || is_prefix(kind) || is_bounded(kind);
}

// The type of the elements of `crd` in a tensor with that type of indices.
constexpr DType coordinate_type(LevelKind kind, DType index_type) {
  return stores_marks(kind) ? DType::Bool : index_type;
}

// What stands in `crd` where a slot is unused.
inline constexpr int64_t kUnused = -1;

std::string_view text_of(LevelKind kind);
// The kinds that satisfy the predicate: "compressed or singleton".
std::string text_of_kinds(bool (*wanted)(LevelKind), std::string_view conjunction);

}  // namespace tulle
