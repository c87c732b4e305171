// Checks whether a scheduled nest accumulates in its result.
#include "plan/rewrite/wide_sums.h"

#include <algorithm>

#include "schedule/rewrites.h"
#include "support/half.h"

namespace tulle::plan {

nest::Nest with_wide_result(const nest::Nest& nest, const std::string& result) {
  nest::Nest wide = nest;
  DType& type = wide.tensors.at(result).type.type;
  type = compute_type(type);
  return wide;
}

std::string wide_name(const std::string& result) { return result + ".wide"; }

namespace {

bool accumulates(const nest::Nest& nest, const std::string& result) {
  const std::vector<const nest::Assign*> all = nest::assigns(nest.root);
  return std::any_of(all.begin(), all.end(), [&](const nest::Assign* assign) {
    return assign->accumulate && assign->tensor == result;
  });
}

bool may_round(const nest::Nest& nest, const std::string& result) {
  return is_half(nest.tensor(result).type.type) && accumulates(nest, result);
}

// Whether the finished nest adds to elements of the result repeatedly.
bool adds_to(const std::string& result, const nest::Nest& finished) {
  // Chunks that share a row add to its elements. If the result shares a pattern, each entry has its
  // own.
  const bool cuts_rows =
      finished.tensor(result).shares_pattern_of.empty() &&
      std::any_of(finished.variables.begin(), finished.variables.end(), [](const auto& entry) {
        return entry.second.is_of_chunks() && !entry.second.is_of_entries();
      });
  return cuts_rows || accumulates(finished, result);
}

}  // namespace

bool rounds_sums(const nest::Nest& nest, const std::string& result,
                 const schedule::Schedule& schedule) {
  return may_round(nest, result) &&
         adds_to(result, schedule::apply(schedule, with_wide_result(nest, result)));
}

std::optional<bool> rounds_sums_if_legal(const nest::Nest& nest, const std::string& result,
                                         const schedule::Schedule& schedule) {
  if (!may_round(nest, result)) return false;
  const auto finished = schedule::nest_after(schedule, with_wide_result(nest, result));
  return finished ? std::optional(adds_to(result, *finished)) : std::nullopt;
}

schedule::Schedule with_renamed(schedule::Schedule schedule, const std::string& tensor,
                                const std::string& name) {
  for (schedule::Step& step : schedule.steps) {
    step.rewrite = schedule::renamed(
        std::move(step.rewrite), [&](const std::string& found, schedule::ArgumentRole role) {
          return schedule::is_tensor(role) && found == tensor ? name : found;
        });
  }
  return schedule;
}

}  // namespace tulle::plan
