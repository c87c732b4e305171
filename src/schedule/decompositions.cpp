// Taking decompose steps out of a schedule.
#include "schedule/decompositions.h"

#include <algorithm>

#include "schedule/rewrites.h"
#include "schedule/schedule.h"
#include "support/check.h"

namespace tulle::schedule {

Decompositions take_decompositions(std::string_view schedule) {
  Decompositions found{{}, std::string(schedule)};
  for (const Step& step : parse_schedule(schedule).steps) {
    if (step.rewrite != "decompose") continue;
    if (!step.statement.empty()) {
      fail_at(step.statement_place,
              "an operand is taken apart for all statements; leave the name of the result away");
    }
    const Arguments arguments(step);
    const std::string& operand = arguments.name(0);
    if (std::any_of(found.steps.begin(), found.steps.end(),
                    [&](const Decomposition& other) { return other.operand == operand; })) {
      fail_at(step.place, concat("'", operand, "' has been taken apart already"));
    }
    found.steps.push_back({operand, arguments.name(1), step.place});
    for (size_t at = 0; at < step.place.length; ++at) {
      char& letter = found.rest[step.place.offset + at];
      if (letter != '\n') letter = ' ';
    }
  }
  return found;
}

}  // namespace tulle::schedule
