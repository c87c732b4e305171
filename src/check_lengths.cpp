// Checking lengths.
#include "check_lengths.h"

#include "support/check.h"

namespace tulle {

namespace {

[[noreturn]] void fail(const TensorSpec& spec, const std::string& what, int64_t found,
                       int64_t expected, const char* because) {
  user_error(spec.name, ": ", what, " has ", found, " elements, but ", expected,
             " are needed: ", because);
}

}  // namespace

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
    if (is_full(level.kind)) {
      const int64_t extent =
          level.expr.extent(view.sizes[static_cast<size_t>(level.expr.dimension)]);
      if (extent < 0 || __builtin_mul_overflow(slots, extent, &slots)) {
        user_error(spec.name, ": the sizes are negative or too large");
      }
    } else if (stores_positions(level.kind)) {
      if (span.pos.length != slots + 1) {
        fail(spec, concat("pos of level ", l), span.pos.length, slots + 1,
             "one more than the level above has slots");
      }
      slots = span.crd.length;
    } else if (span.crd.length != slots) {
      fail(spec, concat("crd of level ", l), span.crd.length, slots,
           "one for each slot of the level above");
    }
  }
  if (view.values.length != slots) {
    fail(spec, "the array of values", view.values.length, slots, "one for each stored entry");
  }
}

}  // namespace tulle
