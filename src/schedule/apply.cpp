// Runs the steps of a schedule.
#include "nest/verify.h"
#include "schedule/bound_loops.h"
#include "schedule/merged_rows.h"
#include "schedule/result_order.h"
#include "schedule/rewrites.h"
#include "schedule/row_chunks.h"
#include "schedule/schedule.h"
#include "schedule/split_positions.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::schedule {

namespace {

nest::Nest run_step(const Step& step, const nest::Nest& nest, Remarks* remarks) {
  return find_rewrite(step.rewrite)->apply(nest, Arguments(step), remarks);
}

// Why a sparse result cannot be built by the nest; empty if it can.
std::string order_problem(const nest::Nest& nest) {
  try {
    require_result_order(nest);
    return {};
  } catch (const UserError& error) {
    return error.what();
  }
}

// The step since which a sparse result cannot be built.
size_t guilty_step(const Schedule& schedule, const nest::Nest& nest) {
  size_t guilty = 0;
  bool is_right = order_problem(nest).empty();
  nest::Nest result = nest;
  for (size_t at = 0; at < schedule.steps.size(); ++at) {
    result = run_step(schedule.steps[at], result, nullptr);
    if (is_right) guilty = at;
    is_right = order_problem(result).empty();
  }
  return guilty;
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
  nest::Nest result = nest;
  for (size_t at = 0; at < schedule.steps.size(); ++at) {
    check_step(schedule.steps[at]);
    try {
      result = run_step(schedule.steps[at], result, remarks);
      require_walkable_positions(result);
      require_chunks_around_rows(result);
      require_mergeable_rows(result);
      require_legal_bindings(result);
    } catch (const UserError& error) {
      refuse_step(schedule, at, error.what());
    }
    nest::verify_nest(result);
  }
  if (mutant("result-order-unchecked")) return result;
  const std::string problem = order_problem(result);
  if (problem.empty()) return result;
  if (schedule.steps.empty()) throw UserError(problem);
  refuse_step(schedule, guilty_step(schedule, nest), problem);
}

}  // namespace tulle::schedule
