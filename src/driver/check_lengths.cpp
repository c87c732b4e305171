// Checks lengths.
#include "driver/check_lengths.h"

#include "format/levels/level_layout.h"
#include "support/check.h"

namespace tulle {

void check_lengths(const TensorSpec& spec, const Format& format, const TensorView& view) {
  if (static_cast<int>(view.sizes.size()) != format.rank() ||
      static_cast<int>(view.levels.size()) != format.level_count()) {
    user_error(spec.name, ": ", view.sizes.size(), " sizes and ", view.levels.size(),
               " levels were given; format ", format.name(), " has ", format.rank(), " and ",
               format.level_count());
  }
  const auto check_data = [&](const ArraySpan& span, std::string_view array) {
    if (span.data || span.length <= 0) return;
    user_error(spec.name, ": ", array, " has ", span.length, " elements, but no data (null)");
  };
  check_data(view.values, "the array of values");
  for (const LevelSpan& level : view.levels) {
    check_data(level.pos, "an array of positions");
    check_data(level.crd, "an array of coordinates");
  }
  int64_t slots = 1;
  bool is_counted = true;  // whether lengths alone determine the slots
  for (size_t l = 0; l < view.levels.size(); ++l) {
    const Level& level = format.levels()[l];
    const LevelSpan& span = view.levels[l];
    const int64_t extent = level.expr.extent(view.sizes);
    const LevelSize found =
        layout_of(level.kind).size(level, slots, extent, span.pos.length, span.crd.length);
    if (!found.array.empty()) {
      user_error(spec.name, ": ", found.array, " of level ", l, " ", found.problem());
    }
    if (found.slots == LevelSize::kTooMany) {
      user_error(spec.name, ": the sizes are negative or too large");
    }
    is_counted = is_counted && found.slots != LevelSize::kInPositions;
    slots = found.slots == LevelSize::kInPositions ? 1 : found.slots;
  }
  // Only the last position determines the number of slots; validate() checks it.
  if (!is_counted && (slots == 0 || view.values.length % slots == 0)) return;
  if (view.values.length != slots) {
    user_error(spec.name, ": the array of values has ", view.values.length, " elements, but ",
               slots, " are needed: one for each stored entry");
  }
}

}  // namespace tulle
