// Compares one pass over the rows with several.
#include "plan/reduce_first.h"

#include <algorithm>

#include "plan/gpu/choose_gpu_schedule.h"
#include "plan/gpu/loops.h"
#include "plan/order/build_nest.h"
#include "plan/rewrite/split_reductions.h"

namespace tulle::plan {

namespace {

// The maximum ratio between one warp's longest row and the other warps' average work.
constexpr double kWaiting = 4;

// Whether one warp works on a single row for much longer than the others on average.
bool waits_for_a_row(const OrderProblem& problem, const Machine& machine) {
  const auto& longest = problem.longest_rows;
  return std::any_of(longest.begin(), longest.end(), [&](const auto& row) {
    const auto count = problem.counts.find(row.first);
    const double warps = kWarpsAtOnce * machine.multiprocessors;
    return count != problem.counts.end() &&
           static_cast<double>(row.second) * warps > kWaiting * count->second;
  });
}

// Whether the reductions have better schedules as separate statements.
bool is_better_apart(const expr::Statement& statement, bool may_share, const LoopChooser& loops,
                     const PlanDraft& draft) {
  const size_t reductions = topmost_reductions(statement.value).size();
  if (statement.value.as<expr::Reduce>() || reductions == 0) return false;
  if (draft.decisions.has(statement.tensor)) return draft.decisions.has(draft.next_part(statement));
  if (reductions == 1) return true;
  const Machine& machine = draft.request.machine;
  const auto [problem, choice, tried] =
      loops.choose(statement, {may_share, true, false}, std::nullopt);
  if (!choice.converted.empty() || waits_for_a_row(problem, machine)) return true;
  const nest::Nest nest =
      build_nest(problem, choice, draft.known_extents, draft.tensors.at(statement.tensor));
  return choose_gpu_schedule(problem, choice, nest, machine).empty();
}

}  // namespace

std::optional<SplitStatement> reduced_first(const expr::Statement& statement, bool may_share,
                                            bool is_scheduled, const LoopChooser& loops,
                                            PlanDraft& draft) {
  if (!is_gpu(draft.request.machine.backend) || is_scheduled ||
      !is_better_apart(statement, may_share, loops, draft))
    return std::nullopt;
  return split_reductions(statement, draft.tensors, [&](const expr::Statement& part) {
    return draft.add_reduced(statement, part);
  });
}

}  // namespace tulle::plan
