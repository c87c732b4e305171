// A level kind as arrays in memory: how long they are, what must hold of them, what they say, how
// they are written.
//
// One class a kind, for whoever meets stored tensors one slot at a time: checks of what comes from
// outside, and the oracle of the tests. Kernels are written by lower/levels.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "format/level.h"
#include "format/level_storage.h"

namespace tulle {

// What the lengths of a level's arrays say.
struct LevelSize {
  static constexpr int64_t kTooMany = -1;      // more than 64 bits count
  static constexpr int64_t kInPositions = -2;  // the last position tells

  int64_t slots = 0;
  // Of an array whose length does not fit; empty where all do.
  std::string_view array;
  int64_t found = 0, expected = 0;
  std::string_view because;

  // "has 5 elements, but 6 are needed: ..."
  std::string problem() const;
};

// A level as it is stored, its lengths checked.
struct StoredLevel {
  const Level* level = nullptr;
  const LevelStorage* arrays = nullptr;
  DType index_type = DType::Int64;
  int64_t extent = 0;   // of its coordinates
  int64_t first = 0;    // the lowest of them
  int64_t parents = 1;  // slots of the level above
  int64_t slots = 0;

  int64_t pos(int64_t at) const { return arrays->pos.at(at, index_type); }
  int64_t crd(int64_t at) const { return arrays->crd.at(at, index_type); }
  bool is_marked(int64_t at) const { return arrays->crd.at(at, DType::Bool) != 0; }
};

struct SlotRange {
  int64_t begin, end;
};

// Entries to be stored, sorted by their coordinates in all levels.
struct EntryRange {
  size_t begin, end;
};
struct LevelEntries {
  const Level* level = nullptr;
  int64_t extent = 0;
  std::function<int64_t(size_t entry)> coordinate;  // of the entry in this level
  // Whether two entries under one parent go into one slot, if they are not told apart further in.
  std::function<bool(size_t, size_t)> are_one;
  std::vector<EntryRange> slots;  // the entries under each parent; building leaves those of its own
};
struct LevelContents {
  std::vector<int64_t> pos, crd;  // of kinds that store marks, `crd` holds those
};

class LevelLayout {
 public:
  virtual ~LevelLayout() = default;

  // The slots under that many parents. Looks at lengths only, and only at those of arrays that the
  // kind stores.
  virtual LevelSize size(const Level& level, int64_t parents, int64_t extent, int64_t pos_length,
                         int64_t crd_length) const = 0;
  // What must hold of the level's own arrays, beyond what holds of coordinates in general (within
  // the extent, ordered, unique), is checked element by element: how many elements there are to
  // look at, and what is wrong with the first of a range of them that is; empty where none is.
  virtual int64_t checked_elements(const StoredLevel&) const { return 0; }
  virtual std::string problem(const StoredLevel&, int64_t, int64_t) const { return {}; }
  // The slots of a parent, and the parent of a slot, of a level in whose arrays nothing is wrong.
  virtual SlotRange slots_under(const StoredLevel& level, int64_t parent) const = 0;
  virtual int64_t parent_of(const StoredLevel& level, int64_t slot) const = 0;
  // Visits the entries under a parent in the order of their slots.
  using Visit = std::function<void(int64_t slot, int64_t coordinate)>;
  virtual void visit(const StoredLevel& level, int64_t parent, const Visit& visit) const = 0;
  virtual LevelContents build(LevelEntries& entries) const = 0;
};

const LevelLayout& layout_of(LevelKind kind);

}  // namespace tulle
