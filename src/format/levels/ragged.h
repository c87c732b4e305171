// The slots of a parent are those from pos[parent] to pos[parent + 1]. Their coordinates count from
// 0.
#pragma once

#include "format/levels/level_layout.h"

namespace tulle {

class RaggedLayout : public LevelLayout {
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

}  // namespace tulle
