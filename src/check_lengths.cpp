// Checking lengths.
#include "check_lengths.h"

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
  int64_t slots = 1;
  for (size_t l = 0; l < view.levels.size(); ++l) {
    const Level& level = format.levels()[l];
    const LevelSpan& span = view.levels[l];
    const int64_t extent = level.expr.extent(view.sizes[static_cast<size_t>(level.expr.dimension)]);
    const LevelSize found =
        layout_of(level.kind).size(slots, extent, span.pos.length, span.crd.length);
    if (!found.array.empty()) {
      user_error(spec.name, ": ", found.array, " of level ", l, " ", found.problem());
    }
    if (found.slots == LevelSize::kTooMany) {
      user_error(spec.name, ": the sizes are negative or too large");
    }
    slots = found.slots;
  }
  if (view.values.length != slots) {
    user_error(spec.name, ": the array of values has ", view.values.length, " elements, but ",
               slots, " are needed: one for each stored entry");
  }
}

}  // namespace tulle
