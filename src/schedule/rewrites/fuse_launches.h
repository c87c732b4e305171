// Kernels of several statements in one launch.
#pragma once

#include <string>
#include <vector>

#include "schedule/program.h"

namespace tulle::schedule {

// Whether the step says which kernels are launched together, which changes no nest.
bool is_about_launches(const Step& step);

// Steps of a program, one after the other, whose kernels run in one launch: its blocks are dealt to
// them. Where they have one result, each adds to it, or takes a maximum with it, say.
struct LaunchGroup {
  std::vector<size_t> steps;
  bool shares_result = false;
};

// The groups of a program whose nests are finished. UserError, pointing at the step, for a
// fuse_launches(C) in the schedule of a nest where no launch of C comes right before it or where
// why_not_together says why not.
std::vector<LaunchGroup> launch_groups(const NestProgram& program);

// Why the kernels of two finished nests cannot run at the same time, and what to do; empty if they
// can: both are bound to a GPU and have one kernel each, blocks of one size hold the threads and
// warps of both, neither reads what the other writes, and atomics can put together what both write.
std::string why_not_together(const nest::Nest& first, const nest::Nest& next);

// The operation that combines the result of the nest with other parts of its result.
nest::Monoid puts_together_by(const nest::Nest& nest);

// The most kernels in one launch: each has parameters, whose space is limited.
inline constexpr size_t kMostFused = 32;

}  // namespace tulle::schedule
