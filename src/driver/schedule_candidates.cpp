// Combines the schedule spaces of statements and translates them to the caller's names.
#include "driver/schedule_candidates.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "plan/tune/plan_key.h"
#include "schedule/distribute.h"
#include "schedule/rewrites.h"
#include "support/check.h"
#include "support/joined.h"

namespace tulle {

namespace {

// The caller's name of the statement. All statements that a composite operand makes of one have its
// name.
const std::string& written_name(const expr::Statement& statement) {
  return statement.adds_to.empty() ? statement.tensor : statement.adds_to;
}

// Translates a schedule from one part to another: renames its result and the workspaces named after
// it.
schedule::Schedule moved(const CompileRequest& request, schedule::Schedule schedule,
                         const std::string& before, const std::string& after) {
  if (before == after) return schedule;
  const auto& tensors = request.plan.program->program.tensors;
  const auto rename = [&](const std::string& name, schedule::ArgumentRole role) {
    const bool is_workspace = role == schedule::ArgumentRole::NewWorkspace &&
                              name.starts_with(before + ".") && !tensors.contains(name);
    const bool is_result = schedule::is_tensor(role) && name == before;
    return is_workspace || is_result ? after + name.substr(before.size()) : name;
  };
  for (schedule::Step& step : schedule.steps)
    step.rewrite = schedule::renamed(std::move(step.rewrite), rename);
  return schedule;
}

// Translates the schedule of a statement to the caller's names. It then applies to all statements
// of that name.
schedule::Schedule written(const CompileRequest& request, size_t statement,
                           schedule::Schedule schedule, const std::string& name) {
  const plan::UniqueProgram& program = *request.plan.program;
  std::map<std::string, std::string> names;
  const schedule::StatementNames offered = schedule::names_of_statement(
      program.program.statements[statement], program.renamed[statement]);
  for (const auto& [before, after] : offered.loops) names[after] = before;
  schedule = plan::exchanged(std::move(schedule), names);
  for (schedule::Step& step : schedule.steps) step.statement = name;
  return schedule;
}

void append(schedule::Schedule& schedule, const schedule::Schedule& more) {
  schedule.steps.insert(schedule.steps.end(), more.steps.begin(), more.steps.end());
}

bool ends_with(const schedule::Schedule& schedule, const schedule::Schedule& end) {
  return schedule.steps.size() >= end.steps.size() &&
         std::equal(end.steps.rbegin(), end.steps.rend(), schedule.steps.rbegin());
}

// One of the statements that a composite operand makes of one, or a statement without composite
// operands, with its planned schedule.
struct Part {
  size_t number;  // of the statement
  plan::ScheduleSpace planned;

  double seconds() const { return planned.candidates.front().seconds; }
};
using Parts = std::vector<Part>;

// Parts that differ only in names and widths, so that they take the same schedules. The slowest
// part represents them.
struct Kind {
  std::vector<size_t> parts;  // the representative first
  double planned = 0;         // total seconds
  const plan::ScheduleSpace* space = nullptr;
  // the other schedules, with the estimate for all parts
  std::map<schedule::Schedule, double, schedule::OrderBySteps> others = {};
};

// The properties of a statement that determine its kind.
std::string traits_of(const CompileRequest& request, const expr::Statement& statement) {
  std::string text;
  for (const expr::Access* access : expr::accesses(statement.value)) {
    const expr::TensorType& type = request.plan.program->program.tensors.at(access->tensor);
    std::vector<Level> levels = type.format.levels();
    for (Level& level : levels) level.width = std::min<int64_t>(level.width, 1);
    const Format format(type.format.dimension_names(), std::move(levels));
    text += concat(joined(access->indices), " ", name_of(type.type), " ", format.to_string(), "\n");
  }
  return text;
}

std::vector<Kind> kinds_of(const CompileRequest& request, const Parts& parts) {
  std::vector<Kind> kinds;
  std::map<std::string, size_t> known;
  for (size_t part = 0; part < parts.size(); ++part) {
    const auto& statement = request.plan.program->program.statements[parts[part].number];
    const auto [at, is_new] = known.try_emplace(traits_of(request, statement), kinds.size());
    if (is_new) kinds.emplace_back();
    Kind& kind = kinds[at->second];
    const bool leads = kind.parts.empty() || parts[part].seconds() > parts[kind.parts[0]].seconds();
    kind.parts.insert(leads ? kind.parts.begin() : kind.parts.end(), part);
    kind.planned += parts[part].seconds();
  }
  return kinds;
}

// Adds the schedules of a space, except those with the same nest as the planned schedule.
void set_space(const plan::ScheduleSpace& space, const Part& part, Kind& kind) {
  kind.space = &space;
  const schedule::Schedule& planned = part.planned.candidates.front().schedule;
  const auto finished = schedule::nest_after(planned, part.planned.nest);
  for (const auto& [schedule, seconds] : space.candidates) {
    const bool may_be_planned = finished && ends_with(schedule, planned);
    const auto same = may_be_planned ? schedule::nest_after(schedule, space.nest) : std::nullopt;
    if (schedule.steps.empty() || (same && to_string(*same) == to_string(*finished))) continue;
    kind.others[schedule] = seconds / part.seconds() * kind.planned;
  }
}

// The schedules that a search can try for one statement of the caller.
class Candidates {
 public:
  // `name` is empty if the program has one statement.
  Candidates(const CompileRequest& request, const Parts& parts, const std::vector<Kind>& kinds,
             const std::string& name)
      : request_(request), parts_(parts), kinds_(kinds), name_(name) {
    for (const Kind& kind : kinds) planned_ += kind.planned;
  }

  std::vector<ScheduleCandidate> find() {
    const schedule::Schedule& planned = parts_.front().planned.candidates.front().schedule;
    found_.push_back({name_, to_string(written_for(0, planned, name_)), planned_});
    for (const Kind& kind : kinds_) {
      for (const auto& [schedule, seconds] : kind.others) add(kind, schedule, seconds);
    }
    std::sort(found_.begin() + 1, found_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.seconds, a.schedule) < std::tie(b.seconds, b.schedule);
    });
    return std::move(found_);
  }

 private:
  // Adds a schedule: for all parts if every kind takes it, otherwise for the parts of this kind,
  // with the planned schedules for the others.
  void add(const Kind& kind, const schedule::Schedule& schedule, double seconds) {
    const schedule::Schedule together = for_part(schedule, kind.parts[0], 0);
    if (together_.contains(together)) return;
    if (const std::optional<double> all = seconds_of_all(together)) {
      together_.insert(together);
      return take(written_for(0, together, name_), *all);
    }
    schedule::Schedule apart;
    for (const size_t part : kind.parts) {
      append(apart, written_for(part, for_part(schedule, kind.parts[0], part),
                                schedule::part_name(tensor_of(0), part)));
    }
    take(apart, planned_ - kind.planned + seconds);
  }

  const std::string& tensor_of(size_t part) const {
    return request_.plan.program->program.statements[parts_[part].number].tensor;
  }

  schedule::Schedule for_part(const schedule::Schedule& steps, size_t of, size_t part) const {
    return moved(request_, steps, tensor_of(of), tensor_of(part));
  }

  schedule::Schedule written_for(size_t part, const schedule::Schedule& steps,
                                 const std::string& name) const {
    return written(request_, parts_[part].number, steps, name);
  }

  void take(const schedule::Schedule& schedule, double seconds) {
    if (is_understood(schedule)) found_.push_back({name_, to_string(schedule), seconds});
  }

  // The total estimate for all parts, for a schedule of the first part. Parts without this
  // candidate count with their planned time. Nothing if some part does not take the schedule.
  std::optional<double> seconds_of_all(const schedule::Schedule& schedule) const {
    double sum = 0;
    for (const Kind& kind : kinds_) {
      const schedule::Schedule steps = for_part(schedule, 0, kind.parts[0]);
      const auto known = kind.others.find(steps);
      const bool is_known = known != kind.others.end();
      if (!is_known && !(kind.space && is_legal(steps, kind.space->nest))) return std::nullopt;
      sum += is_known ? known->second : kind.planned;
    }
    return sum;
  }

  // Whether a caller could write the schedule.
  bool is_understood(const schedule::Schedule& schedule) const {
    return std::all_of(schedule.steps.begin(), schedule.steps.end(),
                       [](const schedule::Step& step) {
                         return static_cast<bool>(schedule::check_arguments(step.rewrite));
                       }) &&
           schedule::try_distribute(schedule, statement_names(*request_.plan.program));
  }

  const CompileRequest& request_;
  const Parts& parts_;
  const std::vector<Kind>& kinds_;
  const std::string name_;
  double planned_ = 0;
  std::set<schedule::Schedule, schedule::OrderBySteps> together_;  // that all parts take
  std::vector<ScheduleCandidate> found_;
};

// A statement of the caller.
struct Written {
  std::string name;
  Parts parts = {};
  std::vector<Kind> kinds = {};
};

std::vector<Written> written_statements(const CompileRequest& request) {
  const auto& statements = request.plan.program->program.statements;
  std::vector<Written> found;
  for (plan::ScheduleSpace& space : schedule_spaces(request, plan::Spaces::Planned)) {
    const auto statement = std::find_if(statements.begin(), statements.end(), [&](const auto& one) {
      return one.tensor == space.tensor;
    });
    const std::string& name = written_name(*statement);
    if (found.empty() || found.back().name != name) found.push_back({name});
    found.back().parts.push_back(
        {static_cast<size_t>(statement - statements.begin()), std::move(space)});
  }
  for (Written& one : found) one.kinds = kinds_of(request, one.parts);
  return found;
}

}  // namespace

std::vector<ScheduleCandidate> schedule_candidates(const CompileRequest& request) {
  std::vector<Written> statements = written_statements(request);
  std::set<std::string> leading;
  for (const Written& one : statements) {
    for (const Kind& kind : one.kinds) leading.insert(one.parts[kind.parts[0]].planned.tensor);
  }
  const auto spaces = schedule_spaces(request, plan::Spaces::Written, leading);
  std::vector<ScheduleCandidate> found;
  for (Written& one : statements) {
    for (Kind& kind : one.kinds) {
      const Part& part = one.parts[kind.parts[0]];
      const auto space = std::find_if(spaces.begin(), spaces.end(), [&](const auto& other) {
        return other.tensor == part.planned.tensor;
      });
      if (space != spaces.end()) set_space(*space, part, kind);
    }
    const bool is_only = statements.size() == 1;
    for (ScheduleCandidate& candidate :
         Candidates(request, one.parts, one.kinds, is_only ? "" : one.name).find())
      found.push_back(std::move(candidate));
  }
  return found;
}

std::string written_schedule(const CompileRequest& request,
                             const std::vector<schedule::Schedule>& schedules) {
  const auto& statements = request.plan.program->program.statements;
  std::map<std::string, std::vector<size_t>> groups;  // statements by the caller's name
  for (size_t s = 0; s < statements.size(); ++s) groups[written_name(statements[s])].push_back(s);
  schedule::Schedule all;
  for (size_t s = 0; s < schedules.size() && s < statements.size(); ++s) {
    const std::string& name = written_name(statements[s]);
    const std::vector<size_t>& parts = groups.at(name);
    const auto as_first = [&](size_t part) {
      return moved(request, schedules[part], statements[part].tensor, name).steps;
    };
    const bool are_alike = std::all_of(parts.begin(), parts.end(), [&](size_t part) {
      return as_first(part) == as_first(parts.front());
    });
    if (schedules[s].steps.empty() || (are_alike && s != parts.front())) continue;
    const auto at = static_cast<size_t>(std::find(parts.begin(), parts.end(), s) - parts.begin());
    const std::string prefix = !are_alike           ? schedule::part_name(name, at)
                               : groups.size() == 1 ? std::string()
                                                    : name;
    append(all, written(request, s, schedules[s], prefix));
  }
  return to_string(all);
}

}  // namespace tulle
