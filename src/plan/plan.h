// The plan of a program: which nests run in which order, with the conversions they need, and why.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/gpu/rules.h"
#include "plan/request.h"
#include "schedule/program.h"

namespace tulle::plan {

struct ScheduledCandidate {
  schedule::Schedule schedule;  // in the names of the nest
  double seconds = 0;           // estimated
};

// Schedules that could finish the nest of a statement.
struct ScheduleSpace {
  std::string tensor;  // which the statement assigns
  std::vector<ScheduledCandidate> candidates;
  nest::Nest nest;
};

struct Plan {
  std::vector<schedule::ProgramStep> steps;
  double cost = 0;  // estimated, of all of them
  std::map<std::string, expr::TensorType> temporaries;
  std::map<std::string, std::string>
      extent_aliases;  // index of a conversion -> the index with the same extent
  std::map<std::string, std::string>
      shared_patterns;  // result -> the operand whose structure it has
  // The text that decisions.h reads: what was decided, and in comments why and what follows.
  std::vector<std::string> lines;
  std::vector<ScheduleSpace> spaces;  // as asked for
  GpuRules rules;                     // that were followed for a GPU
  int orders_tried = 0;               // and beginnings of some
};

Plan make_plan(const Request& request);

}  // namespace tulle::plan
