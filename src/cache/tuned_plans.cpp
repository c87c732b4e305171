// Looks plans up in the process first, then on disk.
#include "cache/tuned_plans.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "jit/private_directory.h"
#include "support/log.h"
#include "support/no_fork.h"
#include "tulle/tulle.h"

namespace tulle {

namespace {

using Key = std::tuple<std::string, std::string, std::string, std::string>;

Key key_of(const jit::StoredPlan& plan) {
  return {plan.statements, plan.tensors, plan.operands, plan.machine};
}

struct Plans {
  std::mutex mutex;  // locked inside NoFork
  std::map<Key, jit::StoredPlan> kept;
  std::atomic<uint64_t> changes = 0;
};

// Never destroyed, because threads may outlive static objects.
Plans& plans() {
  static Plans& instance = *new Plans;
  return instance;
}

jit::PlanStore& store() {
  static auto& instance = *new jit::PlanStore(jit::cache_directory_from_environment());
  return instance;
}

}  // namespace

std::optional<jit::StoredPlan> find_tuned_plan(const jit::StoredPlan& wanted) {
  {
    const NoFork no_fork;
    const std::lock_guard lock(plans().mutex);
    const auto found = plans().kept.find(key_of(wanted));
    if (found != plans().kept.end()) return found->second;
  }
  StageTimes times;
  std::optional<jit::StoredPlan> found = store().find(wanted);
  times.end("look up");
  TULLE_LOG(Debug, found ? "a tuned plan: " : "no tuned plan: ", times.text(), " ms");
  return found;
}

void keep_tuned_plan(const jit::StoredPlan& plan) {
  {
    const NoFork no_fork;
    const std::lock_guard lock(plans().mutex);
    plans().kept[key_of(plan)] = plan;
    ++plans().changes;
  }
  store().store(plan);
}

uint64_t tuned_plan_changes() { return plans().changes.load(std::memory_order_relaxed); }

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
    ++plans().changes;
  }
  return store().clear();
}

std::string cache_directory() { return jit::cache_directory_from_environment(); }

}  // namespace tulle
