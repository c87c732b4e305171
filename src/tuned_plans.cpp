// The plans of this process in a table, in front of the data base.
#include "tuned_plans.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <tuple>

#include "jit/content_hash.h"
#include "jit/private_directory.h"
#include "plan/plan_key.h"
#include "schedule_candidates.h"
#include "support/log.h"
#include "support/no_fork.h"
#include "tulle/error.h"
#include "tulle/tulle.h"

namespace tulle {

namespace {

using Key = std::tuple<std::string, std::string, std::string, std::string>;

Key key_of(const jit::StoredPlan& plan) {
  return {plan.statements, plan.tensors, plan.operands, plan.machine};
}

struct Plans {
  std::mutex mutex;  // taken inside NoFork
  std::map<Key, jit::StoredPlan> kept;
  std::atomic<uint64_t> count = 0;
};

// Neither is ever destroyed: threads may outlive static objects.
Plans& plans() {
  static Plans& instance = *new Plans;
  return instance;
}

jit::PlanStore& store() {
  static auto& instance = *new jit::PlanStore(jit::cache_directory_from_environment());
  return instance;
}

std::string text_of(const plan::Machine& machine, const codegen::Target& target) {
  const std::string caches =
      concat("caches of ", machine.second_cache >> 10, " and ", machine.last_cache >> 10, " KiB");
  if (machine.kind == plan::Machine::Kind::Gpu)
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

// What a plan for this request is kept under; nothing where plans are not kept for it.
std::optional<jit::StoredPlan> tuned_plan_key(const CompileRequest& request) {
  const plan::NumberedNames names(*request.program);
  if (!names.is_clear()) return std::nullopt;
  const plan::Request wanted{request.program, request.known_extents, request.statistics,
                             request.machine};
  const plan::PlanKey key = plan::plan_key(wanted, names);
  jit::StoredPlan plan;
  plan.statements = key.statements;
  plan.tensors = key.tensors;
  plan.operands = key.operands;
  plan.machine = text_of(request.machine, request.target);
  return plan;
}

}  // namespace

std::optional<jit::StoredPlan> find_tuned_plan(const CompileRequest& request) {
  const std::optional<jit::StoredPlan> wanted = tuned_plan_key(request);
  if (!wanted) return std::nullopt;
  {
    const NoFork no_fork;
    const std::lock_guard lock(plans().mutex);
    const auto found = plans().kept.find(key_of(*wanted));
    if (found != plans().kept.end()) return found->second;
  }
  StageTimes times;
  std::optional<jit::StoredPlan> found = store().find(*wanted);
  times.end("look up");
  TULLE_LOG(Debug, found ? "a tuned plan: " : "no tuned plan: ", times.text(), " ms");
  return found;
}

std::vector<schedule::Schedule> tuned_schedules(const CompileRequest& request,
                                                const jit::StoredPlan& plan) {
  try {
    return plan::NumberedNames(*request.program).named(plan.schedule);
  } catch (const UserError& error) {
    TULLE_LOG(Info, "a tuned plan is not understood: ", error.what());
    return {};
  }
}

std::string describe_tuned_plan(const CompileRequest& request) {
  const auto plan = find_tuned_plan(request);
  if (!plan) return {};
  std::string text = concat("measured: ", milliseconds(plan->seconds),
                            "; planned by rule: ", milliseconds(plan->default_seconds), "\n");
  const std::string schedule = written_schedule(request, tuned_schedules(request, *plan));
  if (!schedule.empty()) text += concat("schedule: ", schedule, "\n");
  return text + plan->report + (plan->report.ends_with('\n') ? "" : "\n");
}

void keep_tuned_plan(const CompileRequest& request, const MeasuredSchedule& measured) {
  std::optional<jit::StoredPlan> plan = tuned_plan_key(request);
  if (!plan) return;
  plan->schedule = plan::NumberedNames(*request.program)
                       .numbered(statement_schedules(*request.program, measured.schedule));
  plan->seconds = measured.seconds;
  plan->default_seconds = measured.default_seconds;
  plan->report = measured.report;
  {
    const NoFork no_fork;
    const std::lock_guard lock(plans().mutex);
    plans().kept[key_of(*plan)] = *plan;
    ++plans().count;
  }
  store().store(*plan);
}

uint64_t tuned_plans_kept() { return plans().count.load(std::memory_order_relaxed); }

std::vector<TunedPlan> tuned_plans() {
  std::vector<TunedPlan> found;
  for (jit::StoredPlan& plan : store().list()) {
    found.push_back({plan.statements, plan.tensors, plan.operands, plan.machine, plan.schedule,
                     plan.seconds, plan.default_seconds, plan.report, plan.made});
  }
  return found;
}

int64_t forget_tuned_plans() {
  {
    const NoFork no_fork;
    const std::lock_guard lock(plans().mutex);
    plans().kept.clear();
    ++plans().count;
  }
  return store().clear();
}

std::string cache_directory() { return jit::cache_directory_from_environment(); }

}  // namespace tulle
