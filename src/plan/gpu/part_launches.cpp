// Decides which parts of a result share a launch.
#include "plan/gpu/part_launches.h"

#include <algorithm>

#include "nest/bound_loops.h"
#include "schedule/rewrites/fuse_launches.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::plan {

bool PartLaunches::add(const expr::Statement& statement, const nest::Nest& nest,
                       schedule::Schedule& schedule) {
  const DType type = nest.tensor(statement.tensor).type.type;
  if (!is_gpu(machine_.backend) || is_half(type)) {
    end();
    return false;
  }
  const std::string& target = statement.adds_to.empty() ? statement.tensor : statement.adds_to;
  const nest::Nest finished = schedule::apply(schedule, nest);
  const bool in_any_order = !machine_.deterministic || !is_float(type) ||
                            nest::is_exact(schedule::puts_together_by(finished));
  const bool fits =
      in_any_order && target == target_ && !nests_.empty() &&
      nests_.size() < schedule::kMostFused &&
      std::all_of(
          nests_.begin(), nests_.end(),
          [&](const nest::Nest& other) {
            return nest::threads_of_block(other) == nest::threads_of_block(finished) &&
                   schedule::why_not_together(other, finished).empty();
          });
  if (fits) {
    schedule.add(schedule::FuseLaunches{first_});
  } else {
    nests_.clear();
    first_ = statement.tensor;
    target_ = target;
  }
  nests_.push_back(finished);
  return fits;
}

}  // namespace tulle::plan
