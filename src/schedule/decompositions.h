// The steps decompose(A, format) of a schedule, which are for statements, before there are nests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/source.h"

namespace tulle::schedule {

struct Decomposition {
  std::string operand;
  std::string format;  // of its parts
  Span place;          // of the step
};

struct Decompositions {
  std::vector<Decomposition> steps;
  std::string rest;  // the schedule with spaces in their place, so that messages still point right
};

// UserError where the schedule is wrong, names a statement for such a step, or takes an operand
// apart twice.
Decompositions take_decompositions(std::string_view schedule);

}  // namespace tulle::schedule
