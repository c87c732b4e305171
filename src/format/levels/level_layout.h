// The arrays of a level kind in memory: their lengths, their invariants, reading and building them.
//
// One class per kind. Validation and the oracle of the tests use it to process tensors slot by
// slot; lower/levels writes the kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "format/level.h"
#include "format/level_storage.h"

namespace tulle {

// The number of slots that follows from the lengths of a level's arrays.
struct LevelSize {
  static constexpr int64_t kTooMany = -1;      // more than 64 bits can count
  static constexpr int64_t kInPositions = -2;  // the last position is the number

  int64_t slots = 0;
  // The array whose length is wrong; empty if all lengths are right.
  std::string_view array;
  int64_t found = 0, expected = 0;
  std::string_view because;

  // "has 5 elements, but 6 are needed: ..."
  std::string problem() const;
};

// A stored level with checked lengths.
struct StoredLevel {
  const Level* level = nullptr;
  const LevelStorage* arrays = nullptr;
  DType index_type = DType::Int64;
  int64_t extent = 0;   // the number of coordinates
  int64_t first = 0;    // the lowest coordinate
  int64_t parents = 1;  // the slots of the level above
  int64_t slots = 0;

  int64_t pos(int64_t at) const { return arrays->pos.at(at, index_type); }
  int64_t crd(int64_t at) const { return arrays->crd.at(at, index_type); }
  bool is_marked(int64_t at) const { return arrays->crd.at(at, DType::Bool) != 0; }
};

struct SlotRange {
  int64_t begin, end;
};

// A range of the entries to store, which are sorted by their coordinates in all levels.
struct EntryRange {
  size_t begin, end;
};
struct LevelEntries {
  const Level* level = nullptr;
  int64_t extent = 0;
  std::function<int64_t(size_t entry)> coordinate;  // the coordinate of an entry in this level
  // Whether two entries under one parent share a slot, unless levels further in separate them.
  std::function<bool(size_t, size_t)> are_one;
  // The entries under each parent; build() replaces them by the entries in each slot.
  std::vector<EntryRange> slots;
};
struct LevelContents {
  std::vector<int64_t> pos, crd;  // kinds that store marks put them into `crd`
};

class LevelLayout {
 public:
  virtual ~LevelLayout() = default;

  // The number of slots under that many parents. Reads only the lengths of arrays that the kind
  // stores.
  virtual LevelSize size(const Level& level, int64_t parents, int64_t extent, int64_t pos_length,
                         int64_t crd_length) const = 0;
  // Checks of the level's own arrays, apart from the general rules of coordinates (within the
  // extent, ordered, unique). checked_elements() is the number of elements to check; problem()
  // describes the first mistake in a range of them, or is empty.
  virtual int64_t checked_elements(const StoredLevel&) const { return 0; }
  virtual std::string problem(const StoredLevel&, int64_t, int64_t) const { return {}; }
  // The slots of a parent and the parent of a slot. The arrays of the level must be valid.
  virtual SlotRange slots_under(const StoredLevel& level, int64_t parent) const = 0;
  virtual int64_t parent_of(const StoredLevel& level, int64_t slot) const = 0;
  // Visits the entries under a parent in slot order.
  using Visit = std::function<void(int64_t slot, int64_t coordinate)>;
  virtual void visit(const StoredLevel& level, int64_t parent, const Visit& visit) const = 0;
  virtual LevelContents build(LevelEntries& entries) const = 0;
};

const LevelLayout& layout_of(LevelKind kind);

}  // namespace tulle
