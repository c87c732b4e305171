// Translates between tuned plans and the names of a program.
#include "driver/tuned_schedules.h"

#include <cstdio>
#include <optional>

#include "cache/tuned_plans.h"
#include "driver/schedule_candidates.h"
#include "jit/content_hash.h"
#include "plan/tune/plan_key.h"
#include "support/log.h"
#include "tulle/error.h"

namespace tulle {

namespace {

std::string text_of(const plan::Machine& machine, const codegen::Target& target) {
  const std::string caches =
      concat("caches of ", machine.second_cache >> 10, " and ", machine.last_cache >> 10, " KiB");
  if (is_gpu(machine.backend))
    return concat(target.cpu, ", ", machine.multiprocessors, " multiprocessors, ", caches);
  return concat(target.cpu, " ", jit::hash_of({target.features}).hex().substr(0, 8),
                ", vectors of ", machine.vector_bytes, " bytes, ", caches, ", ", machine.threads,
                machine.threads == 1 ? " thread" : " threads");
}

std::string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g ms", 1e3 * seconds);
  return text;
}

// A plan with the request's key and no schedule. Nothing if plans of this request are not stored.
std::optional<jit::StoredPlan> plan_with_key(const CompileRequest& request) {
  const plan::NumberedNames names(*request.plan.program);
  if (!names.is_clear()) return std::nullopt;
  const plan::PlanKey key = plan::plan_key(request.plan, names);
  jit::StoredPlan plan;
  plan.statements = key.statements;
  plan.tensors = key.tensors;
  plan.operands = key.operands;
  plan.machine = text_of(request.plan.machine, request.target);
  return plan;
}

std::optional<jit::StoredPlan> find_plan(const CompileRequest& request) {
  const std::optional<jit::StoredPlan> wanted = plan_with_key(request);
  return wanted ? find_tuned_plan(*wanted) : std::nullopt;
}

std::vector<schedule::Schedule> schedules_of(const jit::StoredPlan& plan,
                                             const CompileRequest& request) {
  try {
    return plan::NumberedNames(*request.plan.program).named(plan.schedule);
  } catch (const UserError& error) {
    TULLE_LOG(Info, "a tuned plan is not understood: ", error.what());
    return {};
  }
}

}  // namespace

std::vector<schedule::Schedule> find_tuned_schedules(const CompileRequest& request) {
  const std::optional<jit::StoredPlan> plan = find_plan(request);
  return plan ? schedules_of(*plan, request) : std::vector<schedule::Schedule>();
}

Executable compile_tuned(CompileRequest& request, const StageSink& sink,
                         const std::function<void()>& discard) {
  if (!request.tuned.empty()) {
    try {
      return tulle::compile(request, sink);
    } catch (const UserError& error) {
      TULLE_LOG(Info, "a tuned plan is refused, the default is used: ", error.what());
      request.tuned.clear();
      if (discard) discard();
    }
  }
  return tulle::compile(request, sink);
}

std::string describe_tuned_plan(const CompileRequest& request) {
  const std::optional<jit::StoredPlan> plan = find_plan(request);
  if (!plan) return {};
  std::string text = concat("measured: ", milliseconds(plan->seconds),
                            "; planned by rule: ", milliseconds(plan->default_seconds), "\n");
  const std::string schedule = written_schedule(request, schedules_of(*plan, request));
  if (!schedule.empty()) text += concat("schedule: ", schedule, "\n");
  return text + plan->report + (plan->report.ends_with('\n') ? "" : "\n");
}

void keep_tuned_schedule(const CompileRequest& request, const MeasuredSchedule& measured) {
  std::optional<jit::StoredPlan> plan = plan_with_key(request);
  if (!plan) return;
  plan->schedule = plan::NumberedNames(*request.plan.program)
                       .numbered(statement_schedules(*request.plan.program, measured.schedule));
  plan->seconds = measured.seconds;
  plan->default_seconds = measured.default_seconds;
  plan->report = measured.report;
  keep_tuned_plan(*plan);
}

}  // namespace tulle
