// Every level kind in memory: arrays that are built have the expected length and read back.
#include "format/levels/level_layout.h"

#include <gtest/gtest.h>

namespace tulle {
namespace {

using Entry = std::pair<int64_t, int64_t>;  // parent, coordinate

ArrayView array(const std::vector<int64_t>& elements) {
  return {elements.data(), static_cast<int64_t>(elements.size()), nullptr};
}

// A level of each kind, with its argument.
Level level_of(LevelKind kind) { return {.kind = kind, .width = has_width(kind) ? 4 : 0}; }

class Layout : public testing::TestWithParam<LevelKind> {};

// The entries of three parents, built and read back.
void expect_kept(LevelKind kind, const std::vector<Entry>& entries) {
  const LevelLayout& layout = layout_of(kind);
  const Level level = level_of(kind);
  LevelEntries given;
  given.level = &level;
  given.extent = 4;
  given.coordinate = [&](size_t entry) { return entries[entry].second; };
  given.are_one = [&](size_t a, size_t b) { return entries[a] == entries[b]; };
  for (int64_t parent = 0; parent < 3; ++parent) {
    size_t begin = 0;
    while (begin < entries.size() && entries[begin].first < parent) ++begin;
    size_t end = begin;
    while (end < entries.size() && entries[end].first == parent) ++end;
    given.slots.push_back({begin, end});
  }
  const LevelContents contents = layout.build(given);
  EXPECT_EQ(contents.pos.empty(), !stores_positions(kind));
  EXPECT_EQ(contents.crd.empty(), !stores_coordinates(kind) && !stores_marks(kind));
  LevelStorage arrays{array(contents.pos), array(contents.crd)};
  const std::vector<uint8_t> marks(contents.crd.begin(), contents.crd.end());
  if (stores_marks(kind)) arrays.crd.data = marks.data();

  LevelSize size = layout.size(level, 3, 4, arrays.pos.length, arrays.crd.length);
  EXPECT_EQ(size.array, "");
  if (size.slots == LevelSize::kInPositions) size.slots = contents.pos.back();
  EXPECT_EQ(size.slots, static_cast<int64_t>(given.slots.size()));
  EXPECT_TRUE(!is_direct(kind) || size.slots == 3 * 4);
  EXPECT_TRUE(!has_width(kind) || size.slots == 3 * 4);
  EXPECT_TRUE(!is_branchless(kind) || size.slots == 3);

  const StoredLevel stored{&level, &arrays, DType::Int64, 4, 0, 3, size.slots};
  EXPECT_EQ(layout.problem(stored, 0, layout.checked_elements(stored)), "");
  std::vector<Entry> found;
  for (int64_t parent = 0; parent < 3; ++parent) {
    layout.visit(stored, parent, [&](int64_t slot, int64_t coordinate) {
      EXPECT_EQ(layout.parent_of(stored, slot), parent);
      const SlotRange slots = layout.slots_under(stored, parent);
      EXPECT_TRUE(slots.begin <= slot && slot < slots.end);
      const EntryRange& under = given.slots[static_cast<size_t>(slot)];
      if (under.begin < under.end) found.emplace_back(parent, coordinate);
    });
  }
  EXPECT_EQ(found, entries);
}

TEST_P(Layout, KeepsWhatIsBuilt) {
  expect_kept(GetParam(), {{0, 3}, {1, 0}, {2, 3}});
  if (!is_branchless(GetParam())) {
    expect_kept(GetParam(), {{0, 1}, {0, 3}, {2, 0}});
    expect_kept(GetParam(), {{2, 0}, {2, 1}, {2, 2}, {2, 3}});
  }
}

TEST_P(Layout, LengthsThatDoNotFitAreNamed) {
  const LevelLayout& layout = layout_of(GetParam());
  const Level level = level_of(GetParam());
  const LevelSize size = layout.size(level, 3, 4, 2, 7);
  if (stores_positions(GetParam())) {
    EXPECT_EQ(size.array, "pos");
    EXPECT_EQ(size.problem(),
              "has 2 elements, but 4 are needed: one more than the level above has slots");
  } else if (stores_coordinates(GetParam()) || stores_marks(GetParam())) {
    EXPECT_EQ(size.array, "crd");
  } else {
    EXPECT_EQ(size.array, "");
  }
  const bool counted = is_direct(GetParam());
  const int64_t many = int64_t{1} << 40;
  EXPECT_EQ(layout.size(level, many, many, 0, 0).slots == LevelSize::kTooMany, counted);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Layout, testing::ValuesIn(kLevelKinds),
                         [](const auto& kind) { return std::string(text_of(kind.param)); });

TEST(LevelKind, ListsRead) {
  EXPECT_EQ(text_of_kinds(stores_coordinates, "or"), "compressed, singleton or padded");
  EXPECT_EQ(text_of_kinds(is_full, "or"), "dense");
}

}  // namespace
}  // namespace tulle
