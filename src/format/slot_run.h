// A run of levels that store coordinates: one level and the branchless levels directly below it,
// down to the level being checked. A slot of the run has one coordinate in each of these levels.
#pragma once

#include <algorithm>
#include <vector>

#include "format/levels/level_layout.h"

namespace tulle {

struct SlotRun {
  std::vector<StoredLevel> levels;

  const StoredLevel& last() const { return levels.back(); }
  int64_t slots() const { return last().slots; }
};

// The coordinate arrays of a run, in their element type.
template <typename Index>
class RunCoordinates {
 public:
  explicit RunCoordinates(const SlotRun& run) : run_(run) {
    for (const StoredLevel& level : run.levels) {
      arrays_.push_back(static_cast<const Index*>(level.arrays->crd.data));
    }
  }

  const Index* last() const { return arrays_.back(); }

  bool is_unused(size_t level, int64_t slot) const {
    return run_.levels[level].level->has_unused() && arrays_[level][slot] == kUnused;
  }
  bool is_unused(int64_t slot) const {
    for (size_t l = 0; l < arrays_.size(); ++l) {
      if (is_unused(l, slot)) return true;
    }
    return false;
  }
  // Whether two slots under one parent have equal coordinates in the outermost `levels` of the run.
  // An unused slot equals no other.
  bool are_one(int64_t a, int64_t b, size_t levels) const {
    for (size_t l = 0; l < levels; ++l) {
      if (arrays_[l][a] != arrays_[l][b] || is_unused(l, a)) return false;
    }
    return true;
  }
  bool are_one(int64_t a, int64_t b) const { return are_one(a, b, arrays_.size()); }

  uint64_t hash(int64_t parent, int64_t slot) const {
    auto sum = static_cast<uint64_t>(parent);
    for (const Index* crd : arrays_) {
      sum = (sum ^ (sum >> 29)) * 0x9E3779B97F4A7C15ULL + static_cast<uint64_t>(crd[slot]);
    }
    sum *= 0xBF58476D1CE4E5B9ULL;
    return sum ^ (sum >> 32);
  }

 private:
  const SlotRun& run_;
  std::vector<const Index*> arrays_;
};

// Calls visit(parent, slots, begins) for each parent with slots in the range. `slots` are its slots
// within the range; `begins` says whether the range contains its first slot.
template <typename Visit>
void for_parents(const SlotRun& run, SlotRange range, const Visit& visit) {
  if (range.begin >= range.end) return;
  const StoredLevel& head = run.levels.front();
  const LevelLayout& layout = layout_of(head.level->kind);
  int64_t at = range.begin;
  for (int64_t parent = layout.parent_of(head, at); at < range.end; ++parent) {
    const SlotRange under = layout.slots_under(head, parent);
    const int64_t end = std::min(under.end, range.end);
    if (at < end) visit(parent, SlotRange{at, end}, at == under.begin);
    at = end;
  }
}

}  // namespace tulle
