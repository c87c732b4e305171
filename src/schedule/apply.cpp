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
#include "schedule/schedule.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::schedule {

namespace {

nest::Nest run_step(const Step& step, const nest::Nest& nest, Remarks* remarks) {
  return find_rewrite(step.rewrite)->apply(nest, Arguments(step), remarks);
}

// The nest after all steps, whatever that means for a sparse result.
nest::Nest run_steps(const Schedule& schedule, const nest::Nest& nest, Remarks* remarks) {
  nest::Nest result = nest;
  for (size_t at = 0; at < schedule.steps.size(); ++at) {
    check_step(schedule.steps[at]);
    try {
      result = run_step(schedule.steps[at], result, remarks);
      require_walkable_positions(result);
      require_walkable_diagonals(result);
      require_chunks_around_rows(result);
      require_pieces_apart(result);
      require_mergeable_rows(result);
      require_legal_bindings(result);
      require_legal_members(result);
    } catch (const UserError& error) {
      refuse_step(schedule, at, error.what());
    }
    nest::verify_nest(result);
  }
  return result;
}

// The step since which a sparse result cannot be built.
size_t guilty_step(const Schedule& schedule, const nest::Nest& nest) {
  size_t guilty = 0;
  bool is_right = !find_disorder(nest);
  nest::Nest result = nest;
  for (size_t at = 0; at < schedule.steps.size(); ++at) {
    result = run_step(schedule.steps[at], result, nullptr);
    if (is_right) guilty = at;
    is_right = !find_disorder(result);
  }
  return guilty;
}

// Whether the schedule is legal with this step in the end.
bool is_remedy(const Step& step, Schedule schedule, const nest::Nest& nest) {
  schedule.steps.push_back(step);
  try {
    return !find_disorder(run_steps(schedule, nest, nullptr));
  } catch (const UserError&) {
    return false;
  }
}

// The step in the names that were written, for its statement.
std::string as_written(const Schedule& schedule, Step step) {
  std::map<std::string, std::string> written;
  for (const auto& [name, renamed] : nest::with_loops_of_formats(schedule.renamed))
    written[renamed] = name;
  auto rename = [&](std::string& name) {
    if (const auto found = written.find(name); found != written.end()) name = found->second;
  };
  for (Argument& argument : step.arguments) {
    if (auto* name = std::get_if<std::string>(&argument.value)) rename(*name);
    if (auto* names = std::get_if<Names>(&argument.value)) {
      for (std::string& name : *names) rename(name);
    }
  }
  step.statement = schedule.statement;
  return to_string(step);
}

// What is wrong with the order, and what to do: the steps that help are tried.
std::string explained(const Disorder& disorder, const Schedule& schedule, const nest::Nest& nest) {
  std::string remedies;
  for (const std::string& text : disorder.remedies) {
    const Step step = parse_schedule(text).steps.front();
    if (!is_remedy(step, schedule, nest)) continue;
    remedies += concat(remedies.empty() ? "add " : " or ", as_written(schedule, step));
  }
  if (remedies.empty()) remedies = "leave out what moves or cuts them";
  return concat(disorder.problem, "; ", remedies, ", or ask for a dense result.");
}

}  // namespace

// Points at the step in the user's text, or in the schedule as it prints where nobody wrote it.
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
  const Schedule before{
      {schedule.steps.begin(), schedule.steps.begin() + static_cast<ptrdiff_t>(at)}};
  const size_t offset = at == 0 ? 0 : to_string(before).size() + 2;  // and "; "
  const auto source = std::make_shared<const Source>(Source{to_string(schedule), "schedule"});
  fail_at({source, offset, to_string(schedule.steps[at]).size()}, reason);
}

nest::Nest apply(const Schedule& schedule, const nest::Nest& nest, Remarks* remarks) {
  const nest::Nest result = run_steps(schedule, nest, remarks);
  if (mutant("result-order-unchecked")) return result;
  const std::optional<Disorder> disorder = find_disorder(result);
  if (!disorder) return result;
  const std::string why = explained(*disorder, schedule, nest);
  if (schedule.steps.empty()) throw UserError(why);
  refuse_step(schedule, guilty_step(schedule, nest), why);
}

}  // namespace tulle::schedule
