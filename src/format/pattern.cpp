// Patterns: the number of slots of each level.
#include "format/pattern.h"

#include "support/check.h"
#include "tulle/type_names.h"

namespace tulle {

namespace {

void check_array(int level, std::string_view array, const ArrayView& view, bool expected) {
  if (!expected && view.length != 0) {
    user_error("Level ", level, " stores no `", array, "`, but one of ", view.length,
               " elements was given; omit it.");
  }
  if (view.length < 0 || (view.length > 0 && view.data == nullptr)) {
    user_error("Level ", level, ": `", array, "` has no data.");
  }
}

// The slots of a level under `parents` slots.
int64_t slots_of(const Level& level, int at, int64_t extent, int64_t parents, DType index_type,
                 const LevelStorage& storage) {
  check_array(at, "pos", storage.pos, stores_positions(level.kind));
  check_array(at, "crd", storage.crd, stores_coordinates(level.kind) || stores_marks(level.kind));
  const LevelSize found =
      layout_of(level.kind).size(level, parents, extent, storage.pos.length, storage.crd.length);
  if (!found.array.empty()) user_error("Level ", at, ": `", found.array, "` ", found.problem());
  if (found.slots == LevelSize::kTooMany) {
    user_error("Level ", at, " needs a slot for each of ", extent, " coordinates under each of ",
               parents, " slots, which is more than 64 bits can count.");
  }
  if (found.slots != LevelSize::kInPositions) return found.slots;
  const int64_t last = storage.pos.at(parents, index_type);
  if (last < 0) {
    user_error("Level ", at, ": pos[", parents, "] = ", last,
               " is negative, but the last position is the number of slots.");
  }
  return last;
}

}  // namespace

Pattern::Pattern(Format format, std::vector<int64_t> sizes, DType index_type,
                 std::vector<LevelStorage> levels)
    : format_(std::move(format)),
      sizes_(std::move(sizes)),
      index_type_(index_type),
      levels_(std::move(levels)) {
  if (!is_integer(index_type_)) {
    user_error("Positions and coordinates are int32 or int64, not ", long_name_of(index_type_),
               ".");
  }
  if (static_cast<int>(sizes_.size()) != format_.rank()) {
    user_error("The format ", format_.name(), " has ", format_.rank(), " dimensions, but ",
               sizes_.size(), " sizes were given.");
  }
  for (size_t d = 0; d < sizes_.size(); ++d) {
    if (sizes_[d] < 0) user_error("Dimension ", d, " has the negative size ", sizes_[d], ".");
  }
  if (static_cast<int>(levels_.size()) != format_.level_count()) {
    user_error("The format ", format_.to_string(), " has ", format_.level_count(),
               " levels, but storage for ", levels_.size(), " was given.");
  }
  int64_t parent = 1;
  for (int at = 0; at < format_.level_count(); ++at) {
    const auto index = static_cast<size_t>(at);
    const Level& level = format_.levels()[index];
    parent = slots_of(level, at, level.expr.extent(sizes_), parent, index_type_, levels_[index]);
    slots_.push_back(parent);
  }
}

StoredLevel Pattern::stored(int level) const {
  const Level& described = format_.levels()[static_cast<size_t>(level)];
  return {&described,
          &levels_[static_cast<size_t>(level)],
          index_type_,
          described.expr.extent(sizes_),
          described.expr.first(sizes_),
          level == 0 ? 1 : slots(level - 1),
          slots(level)};
}

}  // namespace tulle
