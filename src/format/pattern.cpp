// Patterns: how many slots each level has.
#include "format/pattern.h"

#include "support/check.h"

namespace tulle {

namespace {

int64_t checked_product(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    user_error("The storage needs ", a, " x ", b, " slots, more than 64 bits count.");
  }
  return product;
}

void check_length(int level, std::string_view array, int64_t found, int64_t expected,
                  std::string_view because) {
  if (found == expected) return;
  user_error("Level ", level, ": `", array, "` has ", found, " elements, but ", expected,
             " are needed: ", because, ".");
}

void check_array(int level, std::string_view array, const ArrayView& view, bool expected) {
  if (!expected && view.length != 0) {
    user_error("Level ", level, " stores no `", array, "`, but one of ", view.length,
               " elements was given; leave it out.");
  }
  if (view.length < 0 || (view.length > 0 && view.data == nullptr)) {
    user_error("Level ", level, ": `", array, "` has no data.");
  }
}

// The slots of a level under `parent` slots.
int64_t slots_of(const Level& level, int at, int64_t size, int64_t parent,
                 const LevelStorage& storage) {
  check_array(at, "pos", storage.pos, stores_positions(level.kind));
  check_array(at, "crd", storage.crd, stores_coordinates(level.kind));
  switch (level.kind) {
    case LevelKind::Dense:
      return checked_product(parent, level.expr.extent(size));
    case LevelKind::Compressed:
      check_length(at, "pos", storage.pos.length, parent + 1,
                   "one more than the level above has slots");
      return storage.crd.length;
    case LevelKind::Singleton:
      check_length(at, "crd", storage.crd.length, parent, "one for each slot of the level above");
      return parent;
  }
  internal_error("unknown level kind");
}

}  // namespace

int64_t ArrayView::at(int64_t index, DType type) const {
  TULLE_CHECK(index >= 0 && index < length, "index ", index, " of ", length);
  return type == DType::Int32 ? static_cast<const int32_t*>(data)[index]
                              : static_cast<const int64_t*>(data)[index];
}

Pattern::Pattern(Format format, std::vector<int64_t> sizes, DType index_type,
                 std::vector<LevelStorage> levels)
    : format_(std::move(format)),
      sizes_(std::move(sizes)),
      index_type_(index_type),
      levels_(std::move(levels)) {
  if (!is_integer(index_type_)) {
    user_error("Positions and coordinates are i32 or i64, not ", name_of(index_type_), ".");
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
    const int64_t size = sizes_[static_cast<size_t>(level.expr.dimension)];
    parent = slots_of(level, at, size, parent, levels_[index]);
    slots_.push_back(parent);
  }
}

}  // namespace tulle
