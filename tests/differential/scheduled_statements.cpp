// Assigns steps to the nests of a program.
#include "differential/scheduled_statements.h"

#include <algorithm>

#include "plan/plan.h"
#include "plan/rewrite/inline_masked.h"
#include "plan/rewrite/wide_sums.h"
#include "schedule/rewrites.h"
#include "support/check.h"

namespace tulle::differential {

namespace {

// A step that every nest accepts. With it, the planner chooses the loops of a scheduled statement
// and returns the step with its nest.
schedule::Schedule marker(const expr::Statement& statement, size_t number) {
  schedule::Schedule marked =
      schedule::parse_schedule(concat("nontemporal(", statement.tensor, ")"));
  marked.statement = concat("#", number);
  return marked;
}

// The tensor that the nest assigns: of its statement, or an intermediate for it.
const std::string& result_of(const nest::Nest& nest) {
  return std::find_if(
             nest.tensors.begin(), nest.tensors.end(),
             [](const auto& entry) { return entry.second.role == nest::Tensor::Role::Result; })
      ->first;
}

}  // namespace

ScheduledStatements::ScheduledStatements(const CompileRequest& request)
    : program_(request.plan.program) {
  const auto& statements = program_->program.statements;
  plan::Request wanted{
      program_, request.plan.known_extents, request.plan.statistics, request.plan.machine, {}};
  const auto masked = plan::masked_reads(program_->program, [](size_t) { return false; });
  for (size_t s = 0; s < statements.size(); ++s) {
    scopes_.push_back(schedule::names_of_statement(statements[s], program_->renamed[s]));
    wanted.schedules.push_back(!masked[s] ? marker(statements[s], s) : schedule::Schedule());
  }
  nests_.resize(statements.size());
  taken_.resize(statements.size(), 0);
  for (const schedule::ProgramStep& step : plan::make_plan(wanted).steps) {
    const auto* planned = std::get_if<schedule::ScheduledNest>(&step);
    if (!planned || !planned->schedule.statement.starts_with('#')) continue;
    const size_t number = std::stoul(planned->schedule.statement.substr(1));
    nests_[number] = planned->nest;
    numbers_.push_back(number);
  }
}

std::string ScheduledStatements::written(size_t statement, const std::string& step,
                                         bool alone) const {
  schedule::Step found = schedule::parse_schedule(step).steps.at(0);
  found.rewrite = schedule::renamed(
      std::move(found.rewrite),
      [&](const std::string& name, schedule::ArgumentRole) -> std::string {
        const std::string& called = name == result_of(nest(statement)) ? tensor(statement) : name;
        for (const auto& [before, after] : program_->renamed[statement]) {
          if (called == after) return before;
        }
        return called;
      });
  if (alone) found.statement = tensor(statement);
  return schedule::to_string(found);
}

bool ScheduledStatements::take(const std::string& step) {
  try {
    std::string all = text();
    if (!all.empty()) all += "; ";
    const auto schedules = schedule::distribute(schedule::parse_schedule(all + step), scopes_);
    std::vector<std::optional<nest::Nest>> changed = nests_;
    for (size_t s = 0; s < schedules.size(); ++s) {
      if (schedules[s].steps.size() == taken_[s]) continue;
      if (!changed[s]) return false;
      const schedule::Schedule last({schedules[s].steps.back()});
      changed[s] =
          schedule::apply(plan::with_renamed(last, tensor(s), result_of(*changed[s])), *changed[s]);
    }
    for (size_t s = 0; s < schedules.size(); ++s) taken_[s] = schedules[s].steps.size();
    nests_ = std::move(changed);
  } catch (const UserError&) {
    return false;
  }
  steps_.push_back(step);
  return true;
}

std::string ScheduledStatements::text() const {
  std::string text;
  for (const std::string& step : steps_) text += (text.empty() ? "" : "; ") + step;
  return text;
}

}  // namespace tulle::differential
