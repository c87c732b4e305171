// The plan of a program: its nests in execution order, the conversions they need, and the reasons.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/gpu/rules.h"
#include "plan/request.h"
#include "schedule/program.h"

namespace tulle::plan {

struct ScheduledCandidate {
  schedule::Schedule schedule;  // with the names of the nest
  double seconds = 0;           // estimated
};

// The schedules that a search can try for the nest of a statement.
struct ScheduleSpace {
  std::string tensor;  // the tensor that the statement assigns
  std::vector<ScheduledCandidate> candidates;
  nest::Nest nest;
};

struct Plan {
  std::vector<schedule::ProgramStep> steps;
  double cost = 0;  // estimated total
  std::map<std::string, expr::TensorType> temporaries;
  std::map<std::string, std::string>
      extent_aliases;  // index of a conversion -> the index with the same extent
  std::map<std::string, std::string>
      shared_patterns;  // result -> the operand whose pattern it shares
  // The text that decisions.h reads: the decisions, with reasons and consequences in comments.
  std::vector<std::string> lines;
  std::vector<ScheduleSpace> spaces;  // as requested
  GpuRules rules;                     // the GPU rules that schedules follow
  int orders_tried = 0;               // including partial orders
};

Plan make_plan(const Request& request);

}  // namespace tulle::plan
