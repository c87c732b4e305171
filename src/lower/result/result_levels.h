// The levels of a kernel's result: positions in them, and the levels that are known at a point.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lower/kernel_context.h"
#include "lower/result/result_groups.h"

namespace tulle::lower {

// Keeps a reference to the kernel.
class ResultLevels {
 public:
  explicit ResultLevels(const KernelContext& kernel);

  // The groups of levels to assemble, outermost first. Empty if the structure is known.
  const std::vector<ResultGroup>& groups() const { return groups_; }
  const std::vector<std::unique_ptr<LevelCode>>& levels() const {
    return kernel_.code(kernel_.result).levels;
  }
  // The first level of a group, and of the innermost group.
  const LevelCode& group_level(size_t group) const;
  const LevelCode& innermost_level() const { return group_level(groups_.size() - 1); }

  // The position in level `last_level` at the coordinates of the scope.
  loop::Expr position(const KernelScope& scope, int last_level) const;
  // The coordinate of a level. Null while it is unknown.
  loop::Expr level_coordinate(int level, const KernelScope& scope) const;
  // The variables that run over the insides of the result's blocks.
  std::set<std::string> remainders() const;

  // Whether the loop runs over a full level of the result with levels to assemble below it.
  bool must_visit_all(const nest::Forall& loop, const KernelScope& scope) const;
  // Whether a loop that leads from the scope `before` to this one completes these levels, a full
  // level directly above the group, or an entry.
  bool completes(int first, int last, const KernelScope& before, const KernelScope& scope) const;
  bool completes_row(size_t group, const KernelScope& before, const KernelScope& scope) const;
  bool completes_entry(const KernelScope& before, const KernelScope& scope) const;

  // In the counting phase: whether only the number of entries matters.
  bool counts_alone() const {
    return kernel_.phase == Phase::Count && innermost_level().counts_entries();
  }

 private:
  bool is_known(int level, const KernelScope& scope) const;

  const KernelContext& kernel_;
  std::vector<ResultGroup> groups_;
};

}  // namespace tulle::lower
