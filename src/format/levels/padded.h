// Each parent has the same number of slots; crd stores their coordinates, used slots first.
#pragma once

#include "format/levels/level_layout.h"

namespace tulle {

class PaddedLayout : public LevelLayout {
 public:
  LevelSize size(const Level& level, int64_t parents, int64_t extent, int64_t pos_length,
                 int64_t crd_length) const override;
  SlotRange slots_under(const StoredLevel& level, int64_t parent) const override;
  int64_t parent_of(const StoredLevel& level, int64_t slot) const override;
  void visit(const StoredLevel& level, int64_t parent, const Visit& visit) const override;
  LevelContents build(LevelEntries& entries) const override;
};

}  // namespace tulle
