// Level kinds: the properties that tell them apart, which the rest of the compiler asks for instead
// of naming kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tulle {

// How slots of a level hang from those of the level above, their parents, and what is stored of
// them.
struct LevelProperties {
  bool positions = false;    // stores `pos`: where the slots of each parent begin and end
  bool coordinates = false;  // stores `crd`: the coordinate of each slot; else the slot tells it
  bool full = false;         // each parent has a slot for every coordinate of the extent
  bool branchless = false;   // each parent has one slot, with the parent's own number
};

// X(enumerator, text, properties...)
#define TULLE_LEVEL_KINDS(X)                                          \
  X(Dense, "dense", .full = true)                                     \
  X(Compressed, "compressed", .positions = true, .coordinates = true) \
  X(Singleton, "singleton", .coordinates = true, .branchless = true)

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
// Located by arithmetic and iterated by counting.
constexpr bool is_full(LevelKind kind) { return properties_of(kind).full; }
constexpr bool is_branchless(LevelKind kind) { return properties_of(kind).branchless; }

std::string_view text_of(LevelKind kind);
// The kinds that satisfy the predicate: "compressed or singleton".
std::string text_of_kinds(bool (*wanted)(LevelKind), std::string_view conjunction);

}  // namespace tulle
