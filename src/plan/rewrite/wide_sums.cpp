// What a schedule adds to the result.
#include "plan/rewrite/wide_sums.h"

#include <algorithm>

#include "support/half.h"

namespace tulle::plan {

nest::Nest with_wide_result(const nest::Nest& nest, const std::string& result) {
  nest::Nest wide = nest;
  DType& type = wide.tensors.at(result).type.type;
  type = compute_type(type);
  return wide;
}

std::string wide_name(const std::string& result) { return result + "_wide"; }

bool rounds_sums(const nest::Nest& nest, const std::string& result,
                 const schedule::Schedule& schedule) {
  if (!is_half(nest.tensor(result).type.type)) return false;
  const auto accumulates = [&](const nest::Nest& loops) {
    const std::vector<const nest::Assign*> all = nest::assigns(loops.root);
    return std::any_of(all.begin(), all.end(), [&](const nest::Assign* assign) {
      return assign->accumulate && assign->tensor == result;
    });
  };
  if (!accumulates(nest)) return false;
  const nest::Nest loops = schedule::apply(schedule, with_wide_result(nest, result));
  // Chunks that share a row add to it, unless each of its entries has a place of its own.
  const bool cuts_rows =
      loops.tensor(result).shares_pattern_of.empty() &&
      std::any_of(loops.variables.begin(), loops.variables.end(), [](const auto& entry) {
        return entry.second.is_of_chunks() && !entry.second.is_of_entries();
      });
  return cuts_rows || accumulates(loops);
}

schedule::Schedule with_renamed(schedule::Schedule schedule, const std::string& tensor,
                                const std::string& name) {
  for (schedule::Step& step : schedule.steps) {
    for (schedule::Argument& argument : step.arguments) {
      auto* text = std::get_if<std::string>(&argument.value);
      if (text && *text == tensor) *text = name;
    }
  }
  return schedule;
}

}  // namespace tulle::plan
