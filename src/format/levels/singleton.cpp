// Singleton levels in memory.
#include "format/levels/singleton.h"

#include "support/check.h"

namespace tulle {

LevelSize SingletonLayout::size(const Level&, int64_t parents, int64_t, int64_t,
                                int64_t crd_length) const {
  LevelSize size{.slots = parents};
  if (crd_length != parents) {
    size = {parents, "crd", crd_length, parents, "one for each slot of the level above"};
  }
  return size;
}

SlotRange SingletonLayout::slots_under(const StoredLevel&, int64_t parent) const {
  return {parent, parent + 1};
}

int64_t SingletonLayout::parent_of(const StoredLevel&, int64_t slot) const { return slot; }

void SingletonLayout::visit(const StoredLevel& level, int64_t parent, const Visit& visit) const {
  visit(parent, level.crd(parent));
}

LevelContents SingletonLayout::build(LevelEntries& entries) const {
  LevelContents contents;
  for (const EntryRange& slot : entries.slots) {
    contents.crd.push_back(entries.coordinate(slot.begin));
    if (entries.coordinate(slot.end - 1) != contents.crd.back()) {
      user_error(
          "A singleton level holds one coordinate for each slot of the level above, but the "
          "tensor has several.");
    }
  }
  return contents;
}

}  // namespace tulle
