// Kernels of several statements in one launch.
#pragma once

#include <string>
#include <vector>

#include "schedule/program.h"

namespace tulle::schedule {

// Whether the step selects kernels for one launch and changes no nest.
bool is_about_launches(const Step& step);

// Consecutive steps of a program whose kernels run in one launch, each on some of its blocks. If
// they have one result, each combines its values with it, for example by addition or maximum.
struct LaunchGroup {
  std::vector<size_t> steps;
  bool shares_result = false;
};

// The launch groups of a program whose nests are finished. Throws a UserError that points at a
// fuse_launches(C) step if no launch of C comes right before its nest, or if why_not_together gives
// a reason.
std::vector<LaunchGroup> launch_groups(const NestProgram& program);

// The reason why the kernels of two finished nests cannot run at the same time, with a remedy.
// Empty if they can. Both nests must be bound to a GPU and have one kernel each. One block size
// must have room for the threads and warps of both. Neither may read the other's result, and
// atomics must be able to combine what both write.
std::string why_not_together(const nest::Nest& first, const nest::Nest& next);

// The operation that combines the result of the nest with other parts of the same result.
nest::Monoid puts_together_by(const nest::Nest& nest);

// The maximum number of kernels in one launch. Each adds parameters, and a launch has limited
// parameter space.
inline constexpr size_t kMostFused = 32;

}  // namespace tulle::schedule
