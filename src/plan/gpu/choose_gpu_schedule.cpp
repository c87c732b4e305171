// Chooses the rule for a GPU schedule. The loops on blocks, warps, lanes and threads depend on
// which loops are dense and contiguous, which walk over entries and which are summed.
#include "plan/gpu/choose_gpu_schedule.h"

#include "plan/gpu/columns.h"
#include "plan/gpu/loops.h"
#include "plan/gpu/rows.h"
#include "plan/gpu/scatter.h"
#include "plan/gpu/sums.h"
#include "plan/order/native_order.h"

namespace tulle::plan {

ScheduleBuilder choose_gpu_schedule(const OrderProblem& problem, const OrderChoice& choice,
                                    const nest::Nest& nest, const Machine& machine) {
  ScheduleBuilder rows = gather_rows_on_warps(problem, choice, nest, machine);
  if (!rows.empty()) return rows;
  const GpuLoops loops(problem, choice, nest, machine);
  if (loops.row.empty()) return {};
  if (loops.scatters || (loops.lists_entries && problem.may_scatter))
    return scatter_by_atomics(loops);
  const std::string& last = loops.order.back();
  const bool sums = loops.is_summed(last) || position_of(problem.inner, last) >= 0;
  if (loops.contiguous && !sums) return columns_on_threads(loops);
  if (!loops.walks_entries && !loops.walks_diagonals) return {};
  if (loops.contiguous && loops.order.size() == 3) return sums_on_lanes(loops);
  if (loops.order.size() == 2)
    return loops.walks_diagonals ? diagonals_on_threads(loops) : entries_on_lanes(loops);
  return {};
}

}  // namespace tulle::plan
