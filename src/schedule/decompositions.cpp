// Extracts the decompose steps of a schedule.
#include "schedule/decompositions.h"

#include <algorithm>

#include "schedule/schedule.h"
#include "support/check.h"

namespace tulle::schedule {

Decompositions take_decompositions(std::string_view schedule) {
  Decompositions found{{}, std::string(schedule)};
  for (const Step& step : parse_schedule(schedule).steps) {
    const auto* decompose = std::get_if<Decompose>(&step.rewrite);
    if (!decompose) continue;
    if (!step.statement.empty()) {
      fail_at(step.statement_place,
              "an operand is decomposed for all statements; omit the name of the result");
    }
    const auto& [operand, format] = *decompose;
    if (std::any_of(found.steps.begin(), found.steps.end(), [&](const Decomposition& other) {
          return other.operand == decompose->operand;
        })) {
      fail_at(step.place, concat("'", operand, "' is already decomposed"));
    }
    found.steps.push_back({operand, format, step.place});
    for (size_t at = 0; at < step.place.length; ++at) {
      char& letter = found.rest[step.place.offset + at];
      if (letter != '\n') letter = ' ';
    }
  }
  return found;
}

}  // namespace tulle::schedule
