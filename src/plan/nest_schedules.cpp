// Chooses the schedules that neither callers nor decisions fix.
#include "plan/nest_schedules.h"

#include <algorithm>

#include "plan/choose_schedule.h"
#include "plan/rewrite/wide_sums.h"
#include "plan/tune/schedule_space.h"
#include "schedule/queries.h"
#include "schedule/rewrites/fuse_launches.h"

namespace tulle::plan {

namespace {

// Translates a schedule for loops in that order to the nest as written.
schedule::Schedule from_written(const schedule::Schedule& schedule, const NameList& order,
                                const nest::Nest& nest) {
  const auto& steps = schedule.steps;
  const bool is_ordered =
      !steps.empty() && std::holds_alternative<schedule::Reorder>(steps.front().rewrite);
  if (is_ordered || schedule::loops_of(nest) == order) return schedule;
  schedule::Schedule whole;
  whole.add(schedule::Reorder{order});
  whole.steps.insert(whole.steps.end(), steps.begin(), steps.end());
  return whole;
}

}  // namespace

void NestSchedules::begin(size_t statement, const std::string& tensor) {
  written_ =
      statement < request_.schedules.size() ? request_.schedules[statement] : schedule::Schedule();
  tensor_ = tensor;
}

void NestSchedules::rename(const std::string& tensor, const std::string& name) {
  written_ = with_renamed(written_, tensor, name);
}

// Steps about launches do not count as a schedule of the loops.
bool NestSchedules::are_loops_written() const {
  return !std::all_of(written_.steps.begin(), written_.steps.end(), schedule::is_about_launches);
}

bool NestSchedules::begin_as_stored() const {
  return request_.spaces == Spaces::Written || are_loops_written();
}

NestSchedules::Chosen NestSchedules::choose(const OrderProblem& problem, const OrderChoice& choice,
                                            const nest::Nest& nest, const Origin& origin) {
  Chosen chosen{written_, {}};
  schedule::Schedule& schedule = chosen.schedule;
  bool chooses_launch = false;
  if (origin.decided) {
    schedule = *origin.decided;
  } else if (!origin.is_written || !are_loops_written()) {
    const schedule::Schedule written = origin.is_written ? written_ : schedule::Schedule();
    const ChosenSchedule open = choose_schedule(problem, choice, nest, request_.machine);
    chosen.rules = open.rules;
    schedule = open.schedule;
    schedule.steps.insert(schedule.steps.end(), written.steps.begin(), written.steps.end());
    chooses_launch = problem.is_part && written.steps.empty();
  }
  if (!chooses_launch) {
    launches_.end();
  } else if (launches_.add(*problem.statement, nest, schedule)) {
    chosen.rules.insert(GpuRule::PartsLaunchedTogether);
  }
  return chosen;
}

ScheduleSpace NestSchedules::planned(const Loops& loops) const {
  const auto& [problem, choice, nest] = loops;
  const schedule::Schedule schedule =
      written_.steps.empty() ? choose_schedule(problem, choice, nest, request_.machine).schedule
                             : written_;
  const double seconds = estimate_schedule(problem, nest, request_.machine, schedule);
  return in_names_of_callers({tensor_, {{schedule, seconds}}, nest}, problem.statement->tensor);
}

bool NestSchedules::wants_space() const {
  return request_.spaces != Spaces::None &&
         (request_.spaces_of.empty() || request_.spaces_of.contains(tensor_));
}

ScheduleSpace NestSchedules::space(const Loops& best, const nest::Nest& written,
                                   const nest::Nest* rounded) const {
  ScheduleSpace space{tensor_, {}, written};
  if (!written_.steps.empty()) return space;
  const std::string& result = best.problem.statement->tensor;
  // Whether the statement gets this nest with the schedule. With an illegal schedule it gets none,
  // and another nest if that has the right type for its sums.
  const auto has_nest = [&](const schedule::Schedule& steps) {
    const std::optional<bool> rounds =
        rounded ? rounds_sums_if_legal(*rounded, tensor_, with_renamed(steps, result, tensor_))
                : rounds_sums_if_legal(written, result, steps);
    return rounds && *rounds == (rounded != nullptr);
  };
  for (const auto& [schedule, seconds] :
       schedule_space(best.problem, best.choice, best.nest, request_.machine)) {
    const schedule::Schedule whole = from_written(schedule, best.choice.order, written);
    if (is_legal(whole, written) && has_nest(whole)) space.candidates.push_back({whole, seconds});
  }
  return in_names_of_callers(std::move(space), result);
}

ScheduleSpace NestSchedules::in_names_of_callers(ScheduleSpace space,
                                                 const std::string& tensor) const {
  for (ScheduledCandidate& candidate : space.candidates) {
    if (tensor != wide_name(tensor_)) break;
    candidate.schedule = with_renamed(std::move(candidate.schedule), tensor, tensor_);
  }
  return space;
}

}  // namespace tulle::plan
