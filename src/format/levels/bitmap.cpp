// Bitmap levels in memory.
#include "format/levels/bitmap.h"

#include "format/levels/dense.h"
#include "support/check.h"

namespace tulle {

LevelSize BitmapLayout::size(const Level& level, int64_t parents, int64_t extent,
                             int64_t pos_length, int64_t crd_length) const {
  LevelSize size = DenseLayout().size(level, parents, extent, pos_length, crd_length);
  if (size.slots != LevelSize::kTooMany && crd_length != size.slots) {
    size = {size.slots, "crd", crd_length, size.slots,
            "a byte for each coordinate under each slot of the level above"};
  }
  return size;
}

int64_t BitmapLayout::checked_elements(const StoredLevel& level) const { return level.slots; }

std::string BitmapLayout::problem(const StoredLevel& level, int64_t begin, int64_t end) const {
  for (int64_t slot = begin; slot < end; ++slot) {
    const int64_t mark = level.arrays->crd.at(slot, DType::Bool);
    if (mark == 0 || mark == 1) continue;
    return concat("crd[", slot, "] = ", mark,
                  ", but a bitmap holds 0 (no entry) or 1 (an entry) for each slot.");
  }
  return {};
}

SlotRange BitmapLayout::slots_under(const StoredLevel& level, int64_t parent) const {
  return DenseLayout().slots_under(level, parent);
}

int64_t BitmapLayout::parent_of(const StoredLevel& level, int64_t slot) const {
  return DenseLayout().parent_of(level, slot);
}

void BitmapLayout::visit(const StoredLevel& level, int64_t parent, const Visit& visit) const {
  DenseLayout().visit(level, parent, [&](int64_t slot, int64_t coordinate) {
    if (level.is_marked(slot)) visit(slot, coordinate);
  });
}

LevelContents BitmapLayout::build(LevelEntries& entries) const {
  LevelContents contents = DenseLayout().build(entries);
  for (const EntryRange& slot : entries.slots) contents.crd.push_back(slot.begin < slot.end);
  return contents;
}

}  // namespace tulle
