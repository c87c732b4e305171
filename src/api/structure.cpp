// The public checks of structure.
#include <vector>

#include "composite/operand_parts.h"
#include "driver/caller_parallelism.h"
#include "driver/check_lengths.h"
#include "format/composite.h"
#include "format/pattern.h"
#include "support/check.h"
#include "tulle/tulle.h"

namespace tulle {

namespace {

Pattern pattern_of(const TensorSpec& spec, const TensorView& view) {
  Format format = Format::parse(spec.format, spec.rank);
  check_lengths(spec, format, view);
  std::vector<LevelStorage> levels;
  for (const LevelSpan& level : view.levels) {
    levels.push_back(
        {{level.pos.data, level.pos.length, nullptr}, {level.crd.data, level.crd.length, nullptr}});
  }
  Pattern pattern(std::move(format), view.sizes, spec.index_type, std::move(levels));
  if (pattern.value_count() != view.values.length) {
    user_error(spec.name, ": the array of values has ", view.values.length, " elements, but ",
               pattern.value_count(), " are needed: one for each stored entry");
  }
  return pattern;
}

}  // namespace

void validate(const TensorSpec& spec, const TensorView& view, const RunOptions& options) {
  if (CompositeFormat::is_composite(spec.format)) {
    const OperandParts parts({spec});
    const std::vector<TensorView> given = {view};
    std::vector<TensorView> room;
    const std::vector<TensorView>& views = parts.views(given, room);
    for (size_t p = 0; p < views.size(); ++p) validate(parts.specs()[p], views[p], options);
    return;
  }
  CallerParallelism parallelism(options);
  validate(pattern_of(spec, view), spec.name, parallelism);
}

bool is_in_order(const TensorSpec& spec, const TensorView& view, const RunOptions& options) {
  CallerParallelism parallelism(options);
  return is_in_order(pattern_of(spec, view), spec.name, parallelism);
}

}  // namespace tulle
