// Dense levels in memory.
#include "format/levels/dense.h"

namespace tulle {

LevelSize DenseLayout::size(const Level&, int64_t parents, int64_t extent, int64_t, int64_t) const {
  LevelSize size;
  if (extent < 0 || __builtin_mul_overflow(parents, extent, &size.slots)) {
    size.slots = LevelSize::kTooMany;
  }
  return size;
}

SlotRange DenseLayout::slots_under(const StoredLevel& level, int64_t parent) const {
  return {parent * level.extent, (parent + 1) * level.extent};
}

int64_t DenseLayout::parent_of(const StoredLevel& level, int64_t slot) const {
  return slot / level.extent;
}

void DenseLayout::visit(const StoredLevel& level, int64_t parent, const Visit& visit) const {
  for (int64_t c = 0; c < level.extent; ++c) visit(parent * level.extent + c, c);
}

LevelContents DenseLayout::build(LevelEntries& entries) const {
  std::vector<EntryRange> slots;
  for (const EntryRange& parent : entries.slots) {
    size_t at = parent.begin;
    for (int64_t c = 0; c < entries.extent; ++c) {
      const size_t begin = at;
      while (at < parent.end && entries.coordinate(at) == c) ++at;
      slots.push_back({begin, at});
    }
  }
  entries.slots = std::move(slots);
  return {};
}

}  // namespace tulle
