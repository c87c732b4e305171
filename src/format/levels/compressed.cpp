// Compressed levels in memory.
#include "format/levels/compressed.h"

#include "support/check.h"

namespace tulle {

LevelSize CompressedLayout::size(const Level&, int64_t parents, int64_t, int64_t pos_length,
                                 int64_t crd_length) const {
  LevelSize size{.slots = crd_length};
  if (pos_length != parents + 1) {
    size = {crd_length, "pos", pos_length, parents + 1, "one more than the level above has slots"};
  }
  return size;
}

std::string problem_of_positions(const StoredLevel& level) {
  if (level.pos(0) != 0) return concat("pos[0] is ", level.pos(0), ", but positions start at 0.");
  for (int64_t at = 1; at <= level.parents; ++at) {
    if (level.pos(at) < level.pos(at - 1)) {
      return concat("pos[", at, "] = ", level.pos(at), " is less than pos[", at - 1,
                    "] = ", level.pos(at - 1),
                    ", but positions ascend; make them the running sum of the segment lengths.");
    }
  }
  return {};
}

std::string CompressedLayout::problem(const StoredLevel& level) const {
  if (std::string problem = problem_of_positions(level); !problem.empty()) return problem;
  const int64_t multiple = level.level->multiple;
  for (int64_t at = 1; multiple > 1 && at <= level.parents; ++at) {
    if (level.pos(at) % multiple == 0) continue;
    return concat("pos[", at, "] = ", level.pos(at), " is no multiple of ", multiple,
                  "; round the length of every segment up, with crd = ", kUnused,
                  " in the slots that this adds.");
  }
  if (level.pos(level.parents) != level.slots) {
    return concat("pos[", level.parents, "] = ", level.pos(level.parents), ", but the level has ",
                  level.slots, " coordinates; the last position is their number.");
  }
  return {};
}

std::vector<int64_t> CompressedLayout::parents(const StoredLevel& level) const {
  std::vector<int64_t> result(static_cast<size_t>(level.slots));
  for (int64_t parent = 0; parent < level.parents; ++parent) {
    const int64_t end = level.pos(parent + 1);
    for (int64_t slot = level.pos(parent); slot < end; ++slot) {
      result[static_cast<size_t>(slot)] = parent;
    }
  }
  return result;
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
