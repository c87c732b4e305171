// Ragged levels in memory.
#include "format/levels/ragged.h"

#include "format/levels/compressed.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle {

LevelSize RaggedLayout::size(const Level&, int64_t parents, int64_t, int64_t pos_length,
                             int64_t) const {
  LevelSize size{.slots = LevelSize::kInPositions};
  if (pos_length != parents + 1) {
    size = {LevelSize::kInPositions, "pos", pos_length, parents + 1,
            "one more than the level above has slots"};
  }
  return size;
}

int64_t RaggedLayout::checked_elements(const StoredLevel& level) const { return level.parents + 1; }

std::string RaggedLayout::problem(const StoredLevel& level, int64_t begin, int64_t end) const {
  for (int64_t at = begin; at < end; ++at) {
    if (std::string problem = problem_of_position(level, at); !problem.empty()) return problem;
    const int64_t length = at == 0 ? 0 : level.pos(at) - level.pos(at - 1);
    if (length <= level.extent || mutant("ragged-lengths-unchecked")) continue;
    return concat("pos[", at, "] - pos[", at - 1, "] = ", length,
                  " is a row longer than the extent ", level.extent,
                  "; correct the positions or enlarge the dimension.");
  }
  return {};
}

SlotRange RaggedLayout::slots_under(const StoredLevel& level, int64_t parent) const {
  return CompressedLayout().slots_under(level, parent);
}

int64_t RaggedLayout::parent_of(const StoredLevel& level, int64_t slot) const {
  return CompressedLayout().parent_of(level, slot);
}

void RaggedLayout::visit(const StoredLevel& level, int64_t parent, const Visit& visit) const {
  const int64_t begin = level.pos(parent), end = level.pos(parent + 1);
  for (int64_t slot = begin; slot < end; ++slot) visit(slot, slot - begin);
}

LevelContents RaggedLayout::build(LevelEntries& entries) const {
  LevelContents contents{{0}, {}};
  std::vector<EntryRange> slots;
  for (const EntryRange& parent : entries.slots) {
    const int64_t length = parent.begin < parent.end ? entries.coordinate(parent.end - 1) + 1 : 0;
    size_t at = parent.begin;
    for (int64_t c = 0; c < length; ++c) {
      const size_t begin = at;
      while (at < parent.end && entries.coordinate(at) == c) ++at;
      slots.push_back({begin, at});
    }
    contents.pos.push_back(static_cast<int64_t>(slots.size()));
  }
  entries.slots = std::move(slots);
  return contents;
}

}  // namespace tulle
