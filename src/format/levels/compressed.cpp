// Compressed levels in memory.
#include "format/levels/compressed.h"

#include "support/check.h"
#include "support/mutant.h"

namespace tulle {

LevelSize CompressedLayout::size(const Level&, int64_t parents, int64_t, int64_t pos_length,
                                 int64_t crd_length) const {
  LevelSize size{.slots = crd_length};
  if (pos_length != parents + 1) {
    size = {crd_length, "pos", pos_length, parents + 1, "one more than the level above has slots"};
  }
  return size;
}

std::string problem_of_position(const StoredLevel& level, int64_t at) {
  const int64_t here = level.pos(at);
  if (at == 0) return here == 0 ? "" : concat("pos[0] is ", here, ", but positions start at 0.");
  if (here >= level.pos(at - 1)) return {};
  return concat("pos[", at, "] = ", here, " is less than pos[", at - 1, "] = ", level.pos(at - 1),
                ", but positions must ascend; make them the running sum of the segment lengths.");
}

namespace {

// Whether the last `multiple` slots of the segment that ends at a position are unused. Positions
// outside the array are reported by other checks.
bool has_unused_group(const StoredLevel& level, int64_t at) {
  const int64_t end = level.pos(at), first = end - level.level->multiple;
  if (at == 0 || end <= level.pos(at - 1) || first < 0 || end > level.slots) return false;
  return level.crd(first) == kUnused;
}

}  // namespace

int64_t CompressedLayout::checked_elements(const StoredLevel& level) const {
  return level.parents + 1;
}

std::string CompressedLayout::problem(const StoredLevel& level, int64_t begin, int64_t end) const {
  const int64_t multiple = level.level->multiple;
  for (int64_t at = begin; at < end; ++at) {
    std::string problem = problem_of_position(level, at);
    if (!problem.empty() && !mutant("positions-unchecked")) return problem;
    if (multiple > 1 && level.pos(at) % multiple != 0 && !mutant("multiples-unchecked")) {
      return concat("pos[", at, "] = ", level.pos(at), " is not a multiple of ", multiple,
                    "; round the length of every segment up and set crd = ", kUnused,
                    " in the added slots.");
    }
    if (multiple > 1 && has_unused_group(level, at) && !mutant("unused-groups-unchecked")) {
      return concat("the segment that ends at pos[", at, "] = ", level.pos(at), " has ", multiple,
                    " or more unused slots at its end, but fewer than ", multiple,
                    " fill it up; remove the others.");
    }
    if (at == level.parents && level.pos(at) != level.slots && !mutant("last-position-unchecked")) {
      return concat("pos[", at, "] = ", level.pos(at), ", but the level has ", level.slots,
                    " coordinates; the last position must be their number.");
    }
  }
  return {};
}

SlotRange CompressedLayout::slots_under(const StoredLevel& level, int64_t parent) const {
  return {level.pos(parent), level.pos(parent + 1)};
}

int64_t CompressedLayout::parent_of(const StoredLevel& level, int64_t slot) const {
  int64_t low = 0, high = level.parents;  // pos[low] <= slot < pos[high]
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (level.pos(middle) <= slot ? low : high) = middle;
  }
  return low;
}

void CompressedLayout::visit(const StoredLevel& level, int64_t parent, const Visit& visit) const {
  const int64_t end = level.pos(parent + 1);
  for (int64_t slot = level.pos(parent); slot < end; ++slot) {
    if (level.level->has_unused() && level.crd(slot) == kUnused) break;
    visit(slot, level.crd(slot));
  }
}

LevelContents CompressedLayout::build(LevelEntries& entries) const {
  LevelContents contents{{0}, {}};
  std::vector<EntryRange> slots;
  for (const EntryRange& parent : entries.slots) {
    for (size_t at = parent.begin; at < parent.end;) {
      const size_t begin = at;
      while (at < parent.end && entries.are_one(begin, at)) ++at;
      slots.push_back({begin, at});
      contents.crd.push_back(entries.coordinate(begin));
    }
    while (slots.size() % static_cast<size_t>(entries.level->multiple) != 0) {
      slots.push_back({parent.end, parent.end});
      contents.crd.push_back(kUnused);
    }
    contents.pos.push_back(static_cast<int64_t>(slots.size()));
  }
  entries.slots = std::move(slots);
  return contents;
}

}  // namespace tulle
