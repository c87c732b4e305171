// Checks which kernels can run at the same time.
#include "schedule/rewrites/fuse_launches.h"

#include <algorithm>

#include "nest/bound_loops.h"
#include "nest/cut_rows.h"
#include "nest/row_pieces.h"
#include "schedule/queries.h"
#include "support/check.h"
#include "support/gpu_limits.h"
#include "tulle/type_names.h"

namespace tulle::schedule {

namespace {

std::string result_of(const Nest& nest) {
  for (const auto& [name, tensor] : nest.tensors) {
    if (tensor.role == Tensor::Role::Result) return name;
  }
  internal_error("a nest without a result");
}

// The tensor that the nest writes to.
std::string target_of(const Nest& nest) {
  const std::string result = result_of(nest);
  const std::string& onto = nest.tensor(result).onto;
  return onto.empty() ? result : onto;
}

bool reads(const Nest& nest, const std::string& tensor) {
  const auto found = nest.tensors.find(tensor);
  return found != nest.tensors.end() && found->second.role == Tensor::Role::Operand;
}

bool is_bound(const Nest& nest) {
  const auto* root = nest.root.as<Forall>();
  return root && root->tag.kind == LoopTag::Kind::Block;
}

// Whether the kernel uses lanes and warps, so that a block has whole warps.
bool has_warps(const Nest& nest) {
  bool found = false;
  for_each_loop(nest.root, [&](const Forall& loop) {
    found |= loop.tag.kind == LoopTag::Kind::Warp || loop.tag.kind == LoopTag::Kind::Lane;
  });
  return found;
}

// The reason why kernels cannot combine their results with those of the nest at the same time.
std::string why_not_shared(const Nest& nest) {
  const std::string name = result_of(nest);
  const expr::TensorType& type = nest.tensor(name).type;
  if (!type.format.is_dense() || size_of(type.type) < 4 || type.type == DType::Bool) {
    return concat("'", name, "' cannot be added to by atomics, because it is ", type.format.name(),
                  " of ", long_name_of(type.type), "; leave fuse_launches out.");
  }
  const nest::Monoid together = puts_together_by(nest);
  for (const Assign* assign : assigns(nest.root)) {
    const nest::Accumulate by = nest::combined_by(nest, *assign);
    if (assign->tensor != name || !by || (by == together && nest::stands_alone(by))) continue;
    return concat("'", name, "' accumulates by ", nest::text_of(*by), " and is combined by ",
                  nest::text_of(together), "; leave fuse_launches out.");
  }
  return {};
}

const Step* step_of(const Schedule& schedule) {
  const auto found = std::find_if(schedule.steps.begin(), schedule.steps.end(), is_about_launches);
  return found == schedule.steps.end() ? nullptr : &*found;
}

[[noreturn]] void refuse(const Step& step, const std::string& why) {
  if (step.place) fail_at(step.place, why);
  throw UserError(why);
}

}  // namespace

bool is_about_launches(const Step& step) {
  return std::holds_alternative<FuseLaunches>(step.rewrite);
}

nest::Monoid puts_together_by(const Nest& nest) {
  const std::string name = result_of(nest);
  if (!nest.tensor(name).onto.empty()) return nest.tensor(name).onto_by;
  for (const Assign* assign : assigns(nest.root)) {
    const nest::Accumulate by = nest::combined_by(nest, *assign);
    if (assign->tensor == name && by) return *by;
  }
  return nest::Monoid::Sum;
}

std::string why_not_together(const Nest& first, const Nest& next) {
  for (const Nest* nest : {&first, &next}) {
    if (!is_bound(*nest)) {
      return concat("The loops of '", result_of(*nest),
                    "' are not bound to the blocks of a GPU; bind ",
                    "them, or leave fuse_launches out.");
    }
    if (nest::merged_pieces(*nest)) {
      return concat("'", result_of(*nest),
                    "' takes two kernels, because a second one merges the pieces of rows; leave ",
                    "split_rows or fuse_launches out.");
    }
  }
  for (const auto& [one, other] : {std::pair(&next, &first), std::pair(&first, &next)}) {
    const int64_t threads = nest::threads_of_block(*other);
    if (!has_warps(*one) || threads <= nest::threads_of_block(*one) || threads % kWarpSize == 0)
      continue;
    return concat("The blocks of '", result_of(*one), "' consist of warps, and those of '",
                  result_of(*other), "' have ", threads, " threads; make this a multiple of ",
                  kWarpSize, ", or leave fuse_launches out.");
  }
  for (const auto& [reader, writer] : {std::pair(&next, &first), std::pair(&first, &next)}) {
    if (!reads(*reader, target_of(*writer))) continue;
    return concat("'", result_of(*reader), "' is computed from '", target_of(*writer),
                  "', which the same launch would compute; leave fuse_launches out.");
  }
  if (target_of(first) != target_of(next)) return {};
  if (const nest::Monoid by = puts_together_by(first); by != puts_together_by(next)) {
    return concat("'", result_of(first), "' is combined by ", nest::text_of(by), " and '",
                  result_of(next), "' by ", nest::text_of(puts_together_by(next)),
                  ", and one launch can only use one; leave fuse_launches out.");
  }
  const std::string why = why_not_shared(first);
  return why.empty() ? why_not_shared(next) : why;
}

std::vector<LaunchGroup> launch_groups(const NestProgram& program) {
  std::vector<LaunchGroup> groups;
  const auto nest_at = [&](size_t step) -> const Nest& {
    return std::get<ScheduledNest>(program.steps[step]).nest;
  };
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const auto* scheduled = std::get_if<ScheduledNest>(&program.steps[s]);
    if (!scheduled) continue;
    const Step* step = step_of(scheduled->schedule);
    const std::string with = step ? std::get<FuseLaunches>(step->rewrite).statement : "";
    if (!step || with == result_of(scheduled->nest)) {
      groups.push_back({{s}});
      continue;
    }
    LaunchGroup* group = groups.empty() ? nullptr : &groups.back();
    const bool named =
        group && std::any_of(group->steps.begin(), group->steps.end(),
                             [&](size_t other) { return result_of(nest_at(other)) == with; });
    if (!named || group->steps.back() + 1 != s) {
      refuse(*step,
             concat("'", with, "' is not computed right before '", result_of(scheduled->nest),
                    "', so that they cannot be launched together; leave fuse_launches out."));
    }
    if (group->steps.size() == kMostFused) {
      refuse(*step,
             concat("One launch has at most ", kMostFused, " kernels; fuse others with '",
                    result_of(scheduled->nest), "' instead, and leave fuse_launches out here."));
    }
    for (const size_t other : group->steps) {
      const std::string why = why_not_together(nest_at(other), scheduled->nest);
      if (!why.empty()) refuse(*step, why);
      group->shares_result |= target_of(nest_at(other)) == target_of(scheduled->nest);
    }
    group->steps.push_back(s);
  }
  for (const LaunchGroup& group : groups) {
    const auto& [nest, schedule] = std::get<ScheduledNest>(program.steps[group.steps.front()]);
    const Step* step = step_of(schedule);
    if (step && group.steps.size() == 1) {
      refuse(*step, concat("Nothing is launched together with '", result_of(nest),
                           "'; add the step to the statement after it, D: fuse_launches(",
                           result_of(nest), ") for one that assigns D, or leave it out."));
    }
  }
  std::erase_if(groups, [](const LaunchGroup& group) { return group.steps.size() < 2; });
  return groups;
}

}  // namespace tulle::schedule
