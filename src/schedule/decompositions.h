// The decompose(A, format) steps of a schedule. They rewrite statements, before nests exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/source.h"

namespace tulle::schedule {

struct Decomposition {
  std::string operand;
  std::string format;  // the format of the parts
  Span place;          // the place of the step
};

struct Decompositions {
  std::vector<Decomposition> steps;
  // the schedule with the steps blanked out, so that places in messages stay right
  std::string rest;
};

// Throws a UserError if the schedule is wrong, names a statement for such a step, or decomposes an
// operand twice.
Decompositions take_decompositions(std::string_view schedule);

}  // namespace tulle::schedule
