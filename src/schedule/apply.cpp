// Runs the steps of a schedule.
#include "nest/loop_names.h"
#include "nest/verify.h"
#include "schedule/checks/bound_loops.h"
#include "schedule/checks/members.h"
#include "schedule/checks/merged_rows.h"
#include "schedule/checks/result_order.h"
#include "schedule/checks/walkable_diagonals.h"
#include "schedule/rewrites.h"
#include "schedule/rewrites/row_chunks.h"
#include "schedule/rewrites/split_positions.h"
#include "support/mutant.h"

namespace tulle::schedule {

namespace {

using nest::Nest;

// The checks after every step.
Result<> check_nest(const Nest& nest) {
  TULLE_TRY(require_walkable_positions(nest));
  TULLE_TRY(require_walkable_diagonals(nest));
  TULLE_TRY(require_chunks_around_rows(nest));
  TULLE_TRY(require_pieces_apart(nest));
  TULLE_TRY(require_mergeable_rows(nest));
  TULLE_TRY(require_legal_bindings(nest));
  return require_legal_members(nest);
}

Result<Nest> run_step(const Step& step, const Nest& nest, Remarks* remarks) {
  TULLE_TRY(check_arguments(step.rewrite));
  Result<Nest> result = kind_of(step.rewrite).apply(nest, step.rewrite, remarks);
  if (!result) return result;
  TULLE_TRY(check_nest(*result));
  nest::verify_nest(*result);
  return result;
}

// Applies all steps, without the checks of sparse results.
Result<Nest, RefusedStep> run_steps(const Schedule& schedule, const Nest& nest, Remarks* remarks) {
  Nest current = nest;
  for (size_t at = 0; at < schedule.steps.size(); ++at) {
    Result<Nest> next = run_step(schedule.steps[at], current, remarks);
    if (!next) return RefusedStep{at, next.error().why};
    current = *std::move(next);
  }
  return current;
}

// For a schedule with legal steps: the first step after which a sparse result cannot be built.
size_t guilty_step(const Schedule& schedule, const Nest& nest) {
  size_t guilty = 0;
  bool is_right = !find_disorder(nest);
  Nest current = nest;
  for (size_t at = 0; at < schedule.steps.size(); ++at) {
    current = *run_step(schedule.steps[at], current, nullptr);
    if (is_right) guilty = at;
    is_right = !find_disorder(current);
  }
  return guilty;
}

// Whether the schedule is legal when this step is appended to it.
bool is_remedy(const Rewrite& step, Schedule schedule, const Nest& nest) {
  schedule.add(step);
  return is_legal(schedule, nest);
}

// Prints the step with the names that the user wrote, for the statement it applies to.
std::string as_written(const Schedule& schedule, const Rewrite& rewrite) {
  std::map<std::string, std::string> written;
  for (const auto& [name, renamed] : nest::with_loops_of_formats(schedule.renamed))
    written[renamed] = name;
  const auto rename = [&](const std::string& name, ArgumentRole role) {
    const auto found = role == ArgumentRole::Loop ? written.find(name) : written.end();
    return found == written.end() ? name : found->second;
  };
  return to_string(Step{.rewrite = renamed(rewrite, rename), .statement = schedule.statement});
}

// Describes the disorder. Tries each remedy and suggests those that work.
std::string explained(const Disorder& disorder, const Schedule& schedule, const Nest& nest) {
  std::string remedies;
  for (const Rewrite& step : disorder.remedies) {
    if (!is_remedy(step, schedule, nest)) continue;
    remedies += concat(remedies.empty() ? "add " : " or ", as_written(schedule, step));
  }
  if (remedies.empty()) remedies = "leave out what moves or cuts them";
  return concat(disorder.problem, "; ", remedies, ", or ask for a dense result.");
}

std::optional<Disorder> disorder_of(const Nest& nest) {
  return mutant("result-order-unchecked") ? std::nullopt : find_disorder(nest);
}

}  // namespace

// Points at the step in the caller's text. Without such a text, points into the printed schedule.
void refuse_step(const Schedule& schedule, size_t at, const std::string& why) {
  std::string reason = why;
  if (!schedule.statement.empty()) {
    reason = concat("for the statement of '", schedule.statement, "': ", why);
  }
  for (const auto& [written, name] : schedule.renamed) {
    if (why.find(name) != std::string::npos) {
      reason += concat(" ('", name, "' is the '", written, "' of this statement.)");
    }
  }
  if (schedule.steps[at].place) fail_at(schedule.steps[at].place, reason);
  Schedule before = schedule;
  before.steps.resize(at);
  const size_t offset = at == 0 ? 0 : to_string(before).size() + 2;  // and "; "
  const auto source = std::make_shared<const Source>(Source{to_string(schedule), "schedule"});
  fail_at({source, offset, to_string(schedule.steps[at]).size()}, reason);
}

Result<Nest, RefusedStep> try_apply(const Schedule& schedule, const Nest& nest, Remarks* remarks) {
  Result<Nest, RefusedStep> result = run_steps(schedule, nest, remarks);
  if (!result) return result;
  const std::optional<Disorder> disorder = disorder_of(*result);
  if (!disorder) return result;
  std::optional<size_t> step;
  if (!schedule.steps.empty()) step = guilty_step(schedule, nest);
  return RefusedStep{step, explained(*disorder, schedule, nest)};
}

std::optional<Nest> nest_after(const Schedule& schedule, const Nest& nest) {
  Result<Nest, RefusedStep> result = run_steps(schedule, nest, nullptr);
  if (!result || disorder_of(*result)) return std::nullopt;
  return *std::move(result);
}

bool is_legal(const Schedule& schedule, const Nest& nest) {
  return nest_after(schedule, nest).has_value();
}

Nest apply(const Schedule& schedule, const Nest& nest, Remarks* remarks) {
  Result<Nest, RefusedStep> result = try_apply(schedule, nest, remarks);
  if (result) return *std::move(result);
  const auto& [step, why] = result.error();
  if (!step) throw UserError(why);
  refuse_step(schedule, *step, why);
}

}  // namespace tulle::schedule
