// Padded levels in memory.
#include "format/levels/padded.h"

#include "support/check.h"

namespace tulle {

LevelSize PaddedLayout::size(const Level& level, int64_t parents, int64_t, int64_t,
                             int64_t crd_length) const {
  LevelSize size;
  if (__builtin_mul_overflow(parents, level.width, &size.slots)) {
    size.slots = LevelSize::kTooMany;
  } else if (crd_length != size.slots) {
    size = {size.slots, "crd", crd_length, size.slots,
            "the width for each slot of the level above"};
  }
  return size;
}

SlotRange PaddedLayout::slots_under(const StoredLevel& level, int64_t parent) const {
  return {parent * level.level->width, (parent + 1) * level.level->width};
}

int64_t PaddedLayout::parent_of(const StoredLevel& level, int64_t slot) const {
  return slot / level.level->width;
}

void PaddedLayout::visit(const StoredLevel& level, int64_t parent, const Visit& visit) const {
  const int64_t begin = parent * level.level->width, end = begin + level.level->width;
  for (int64_t slot = begin; slot < end && level.crd(slot) != kUnused; ++slot) {
    visit(slot, level.crd(slot));
  }
}

LevelContents PaddedLayout::build(LevelEntries& entries) const {
  LevelContents contents;
  std::vector<EntryRange> slots;
  const auto width = static_cast<size_t>(entries.level->width);
  for (const EntryRange& parent : entries.slots) {
    const size_t first = slots.size();
    for (size_t at = parent.begin; at < parent.end;) {
      const size_t begin = at;
      while (at < parent.end && entries.are_one(begin, at)) ++at;
      slots.push_back({begin, at});
      contents.crd.push_back(entries.coordinate(begin));
    }
    if (slots.size() - first > width) {
      user_error("A padded level of width ", width, " cannot hold the ", slots.size() - first,
                 " coordinates that one slot above has; make it wider.");
    }
    contents.crd.resize(first + width, kUnused);
    slots.resize(first + width, {parent.end, parent.end});
  }
  entries.slots = std::move(slots);
  return contents;
}

}  // namespace tulle
