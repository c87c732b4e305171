// The slots of a parent are those from pos[parent] to pos[parent + 1]; crd stores their
// coordinates. Where their number is rounded up, the added slots come last and are marked unused.
#pragma once

#include "format/levels/level_layout.h"

namespace tulle {

class CompressedLayout : public LevelLayout {
 public:
  LevelSize size(const Level& level, int64_t parents, int64_t extent, int64_t pos_length,
                 int64_t crd_length) const override;
  int64_t checked_elements(const StoredLevel& level) const override;
  std::string problem(const StoredLevel& level, int64_t begin, int64_t end) const override;
  SlotRange slots_under(const StoredLevel& level, int64_t parent) const override;
  int64_t parent_of(const StoredLevel& level, int64_t slot) const override;
  void visit(const StoredLevel& level, int64_t parent, const Visit& visit) const override;
  LevelContents build(LevelEntries& entries) const override;
};

// Describes the mistake in a position, taken by itself or compared with the previous position;
// empty if there is none.
std::string problem_of_position(const StoredLevel& level, int64_t at);

}  // namespace tulle
