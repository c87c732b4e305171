// Finds the steps that make the order of sums vary.
#include "schedule/checks/one_order.h"

#include <algorithm>
#include <set>

#include "nest/bound_loops.h"
#include "nest/cut_rows.h"
#include "nest/row_pieces.h"
#include "schedule/queries.h"
#include "schedule/rewrites.h"
#include "schedule/rewrites/fuse_launches.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

bool cuts_rows(const Step& step) {
  return std::holds_alternative<SplitRows>(step.rewrite) ||
         std::holds_alternative<DealRows>(step.rewrite);
}

bool adds_blocks(const Step& step) {
  const auto* bind = std::get_if<Bind>(&step.rewrite);
  return bind && bind->by_atomics;
}

// The floating-point tensor to which chunks of rows or blocks add by atomics. Empty if there is
// none.
std::string shared_sum(const Nest& nest) {
  if (nest::merged_pieces(nest)) return {};
  const bool blocks = nest::adds_up_by_atomics(nest);
  for (const Assign* assign : lasting_assigns(nest.root)) {
    if (is_float(nest.tensor(assign->tensor).type.type) &&
        !nest::is_exact(nest::combined_by(nest, *assign)) &&
        (blocks || nest::adds_up_cut_rows(nest, *assign)))
      return assign->tensor;
  }
  return {};
}

std::string reason(std::string_view step, const std::string& tensor, WantsOneOrder who,
                   std::string_view instead) {
  const std::string_view asks = who == WantsOneOrder::Cpu
                                    ? "a CPU gives"
                                    : "torch.use_deterministic_algorithms(True) requires";
  return concat("by ", step, " '", tensor, "' is added up by atomics, in an order that differs ",
                "from run to run, and ", asks, " the same bits; ", instead, ", or leave ", step,
                " out.");
}

bool has_parallel_loop(const Nest& nest) {
  bool found = false;
  for_each_loop(nest.root, [&](const Forall& loop) {
    found |= loop.tag.kind == nest::LoopTag::Kind::Parallel;
  });
  return found;
}

// The number of the first step that satisfies `is_it`.
template <typename Predicate>
size_t number_of(const Schedule& schedule, const Predicate& is_it) {
  const auto found = std::find_if(schedule.steps.begin(), schedule.steps.end(), is_it);
  TULLE_CHECK(found != schedule.steps.end(), "no step makes the order vary");
  return static_cast<size_t>(found - schedule.steps.begin());
}

void require_whole_rows(const ScheduledNest& scheduled, const Nest& finished, WantsOneOrder who) {
  const bool on_cpu = who == WantsOneOrder::Cpu;
  if (on_cpu && !has_parallel_loop(finished)) return;
  const std::string tensor = shared_sum(finished);
  if (tensor.empty()) return;
  const size_t at =
      number_of(scheduled.schedule, nest::adds_up_by_atomics(finished) ? adds_blocks : cuts_rows);
  const Step& step = scheduled.schedule.steps[at];
  const std::string_view instead = on_cpu              ? "use parallel(..., by=merge)"
                                   : adds_blocks(step) ? "bind a loop that is not summed"
                                                       : "bind whole rows";
  refuse_step(scheduled.schedule, at, reason(kind_of(step.rewrite).name, tensor, who, instead));
}

// Kernels that run at the same time must write different results.
void require_own_results(const NestProgram& program, const LaunchGroup& group) {
  std::set<std::string> targets;
  for (const size_t step : group.steps) {
    const auto& [nest, schedule] = std::get<ScheduledNest>(program.steps[step]);
    for (const auto& [name, tensor] : nest.tensors) {
      if (tensor.role != Tensor::Role::Result) continue;
      const std::string& target = tensor.onto.empty() ? name : tensor.onto;
      if (targets.insert(target).second || !is_float(tensor.type.type) ||
          nest::is_exact(puts_together_by(nest)))
        continue;
      refuse_step(schedule, number_of(schedule, is_about_launches),
                  reason("fuse_launches", target, WantsOneOrder::Caller,
                         "launch the kernels one after the other"));
    }
  }
}

}  // namespace

void require_one_order(const NestProgram& program, const NestProgram& finished, WantsOneOrder who) {
  for (size_t s = 0; s < program.steps.size(); ++s) {
    if (const auto* scheduled = std::get_if<ScheduledNest>(&program.steps[s]))
      require_whole_rows(*scheduled, std::get<ScheduledNest>(finished.steps[s]).nest, who);
  }
  if (who == WantsOneOrder::Cpu) return;
  for (const LaunchGroup& group : launch_groups(finished)) require_own_results(program, group);
}

}  // namespace tulle::schedule
