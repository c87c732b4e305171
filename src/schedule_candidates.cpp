// Putting the spaces of statements together in the names that a caller writes.
#include "schedule_candidates.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "plan/plan_key.h"
#include "schedule/distribute.h"
#include "support/half.h"
#include "tulle/error.h"

namespace tulle {

namespace {

// What steps of the caller's call the statement: all that a composite operand makes of one have the
// name of that one.
const std::string& written_name(const expr::Statement& statement) {
  return statement.adds_to.empty() ? statement.tensor : statement.adds_to;
}

// A schedule for one part, with the names of another: of its result, and of the workspaces that are
// called after that.
schedule::Schedule moved(const CompileRequest& request, schedule::Schedule schedule,
                         const std::string& before, const std::string& after) {
  if (before == after) return schedule;
  const auto& tensors = request.program->program.tensors;
  for (schedule::Step& step : schedule.steps) {
    for (schedule::Argument& argument : step.arguments) {
      auto* name = std::get_if<std::string>(&argument.value);
      if (name &&
          (*name == before || (name->starts_with(before + "_") && !tensors.contains(*name))))
        *name = after + name->substr(before.size());
    }
  }
  return schedule;
}

// The schedule of a statement in the names that were written, for the statements of that name.
std::string written(const CompileRequest& request, size_t statement, schedule::Schedule schedule,
                    const std::string& name) {
  const plan::UniqueProgram& program = *request.program;
  std::map<std::string, std::string> names;
  const schedule::Scope scope =
      schedule::scope_of(program.program.statements[statement], program.renamed[statement]);
  for (const auto& [before, after] : scope.loops) names[after] = before;
  schedule = plan::exchanged(std::move(schedule), names);
  for (schedule::Step& step : schedule.steps) step.statement = name;
  return to_string(schedule);
}

// The nest after the schedule; nothing where that is not legal.
std::optional<nest::Nest> applied(const schedule::Schedule& schedule, const nest::Nest& nest) {
  try {
    return schedule::apply(schedule, nest);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

// One of the statements that a composite operand makes of one, or one alone.
struct Part {
  size_t number;                                 // of the statement
  plan::ScheduledCandidate planned;              // by rule
  const plan::ScheduleSpace* others;             // null: none
  std::map<std::string, double> estimates = {};  // of these

  // Leaves out what leads to the nest that is planned.
  Part(size_t statement, const plan::ScheduleSpace& has, const plan::ScheduleSpace* may_have)
      : number(statement), planned(has.candidates.front()), others(may_have) {
    if (!others) return;
    const auto finished = applied(schedule::parse_schedule(planned.schedule), has.nest);
    for (const auto& [schedule, seconds] : others->candidates) {
      const bool may_be_planned = finished && schedule.ends_with(planned.schedule);
      const auto same =
          may_be_planned ? applied(schedule::parse_schedule(schedule), others->nest) : std::nullopt;
      if (!same || to_string(*same) != to_string(*finished)) estimates[schedule] = seconds;
    }
  }
};
using Parts = std::vector<Part>;

// Which schedules a request takes. What is planned for a statement that has one does not hang on
// what its steps say, but for sums that would be rounded (wide_sums.h).
class Legality {
 public:
  explicit Legality(const CompileRequest& request) : request_(request) {
    const auto& tensors = request.program->program.tensors;
    may_be_rounded_ = std::any_of(tensors.begin(), tensors.end(),
                                  [](const auto& tensor) { return is_half(tensor.second.type); });
  }

  // A schedule that is legal for the nests that statements with one have.
  bool takes(const std::string& schedule) {
    request_.schedule = schedule;
    try {
      if (may_be_rounded_) {
        schedule_program(request_);
      } else {
        statement_schedules(*request_.program, schedule);
      }
      return true;
    } catch (const UserError&) {
      return false;
    }
  }

 private:
  CompileRequest request_;
  bool may_be_rounded_;
};

// What a search may try for one statement of the caller's.
class Candidates {
 public:
  // `name` is empty where there is no other statement.
  Candidates(const CompileRequest& request, const Parts& parts, const std::string& name)
      : request_(request), parts_(parts), name_(name), legality_(request) {
    for (const Part& part : parts) planned_ += part.planned.seconds;
  }

  std::vector<ScheduleCandidate> find() {
    found_.push_back({name_, written_for(0, parts_.front().planned.schedule, name_), planned_});
    for (size_t part = 0; part < parts_.size(); ++part) {
      for (const auto& [schedule, seconds] : parts_[part].estimates) add(part, schedule, seconds);
    }
    std::stable_sort(found_.begin() + 1, found_.end(),
                     [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    return std::move(found_);
  }

 private:
  // For all parts where each takes it, or for its own, with the others as they are planned.
  void add(size_t part, const std::string& schedule, double seconds) {
    const std::string& first = tensor_of(0);
    const std::string together =
        to_string(moved(request_, schedule::parse_schedule(schedule), tensor_of(part), first));
    if (together_.contains(together)) return;
    if (const std::optional<double> all = seconds_of_all(together)) {
      together_.insert(together);
      return take(written_for(part, together, name_), *all);
    }
    take(written_for(part, schedule, schedule::part_name(first, part)),
         planned_ - parts_[part].planned.seconds + seconds);
  }

  const std::string& tensor_of(size_t part) const {
    return request_.program->program.statements[parts_[part].number].tensor;
  }

  std::string written_for(size_t part, const std::string& text, const std::string& name) const {
    return written(request_, parts_[part].number, schedule::parse_schedule(text), name);
  }

  void take(const std::string& schedule, double seconds) {
    if (!schedule.empty() && legality_.takes(schedule))
      found_.push_back({name_, schedule, seconds});
  }

  // The estimate for a schedule of the first part for all; a part that has it in no candidate is
  // taken to need as long as planned. Nothing where one does not take it.
  std::optional<double> seconds_of_all(const std::string& schedule) const {
    double sum = 0;
    for (size_t part = 0; part < parts_.size(); ++part) {
      const Part& here = parts_[part];
      const schedule::Schedule steps =
          moved(request_, schedule::parse_schedule(schedule), tensor_of(0), tensor_of(part));
      const auto known = here.estimates.find(to_string(steps));
      if (known == here.estimates.end() && !(here.others && applied(steps, here.others->nest)))
        return std::nullopt;
      sum += known == here.estimates.end() ? here.planned.seconds : known->second;
    }
    return sum;
  }

  const CompileRequest& request_;
  const Parts& parts_;
  const std::string name_;
  double planned_ = 0;
  Legality legality_;
  std::set<std::string> together_;  // schedules that all parts take
  std::vector<ScheduleCandidate> found_;
};

}  // namespace

std::vector<ScheduleCandidate> schedule_candidates(const CompileRequest& request) {
  const auto& statements = request.program->program.statements;
  const std::vector<plan::ScheduleSpace> written = schedule_spaces(request, plan::Spaces::Written);
  std::vector<std::pair<std::string, Parts>> together;  // by the name that was written
  for (const plan::ScheduleSpace& space : schedule_spaces(request, plan::Spaces::Planned)) {
    const auto of_same = [&](const auto& one) { return one.tensor == space.tensor; };
    const auto statement = std::find_if(statements.begin(), statements.end(), of_same);
    const auto others = std::find_if(written.begin(), written.end(), of_same);
    const std::string& name = written_name(*statement);
    if (together.empty() || together.back().first != name) together.push_back({name, {}});
    together.back().second.emplace_back(static_cast<size_t>(statement - statements.begin()), space,
                                        others == written.end() ? nullptr : &*others);
  }
  std::vector<ScheduleCandidate> found;
  for (const auto& [name, parts] : together) {
    const bool is_only = together.size() == 1;
    for (ScheduleCandidate& one : Candidates(request, parts, is_only ? "" : name).find())
      found.push_back(std::move(one));
  }
  return found;
}

std::string written_schedule(const CompileRequest& request,
                             const std::vector<schedule::Schedule>& schedules) {
  const auto& statements = request.program->program.statements;
  std::map<std::string, std::vector<size_t>> groups;  // statements by the name that was written
  for (size_t s = 0; s < statements.size(); ++s) groups[written_name(statements[s])].push_back(s);
  std::string text;
  for (size_t s = 0; s < schedules.size() && s < statements.size(); ++s) {
    const std::string& name = written_name(statements[s]);
    const std::vector<size_t>& parts = groups.at(name);
    const auto as_first = [&](size_t part) {
      return to_string(moved(request, schedules[part], statements[part].tensor, name));
    };
    const bool are_alike = std::all_of(parts.begin(), parts.end(), [&](size_t part) {
      return as_first(part) == as_first(parts.front());
    });
    if (schedules[s].steps.empty() || (are_alike && s != parts.front())) continue;
    const auto at = static_cast<size_t>(std::find(parts.begin(), parts.end(), s) - parts.begin());
    const std::string prefix = !are_alike           ? schedule::part_name(name, at)
                               : groups.size() == 1 ? std::string()
                                                    : name;
    text += (text.empty() ? "" : "; ") + written(request, s, schedules[s], prefix);
  }
  return text;
}

}  // namespace tulle
