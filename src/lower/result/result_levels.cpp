// Computes positions in a result, and the levels that a loop completes.
#include "lower/result/result_levels.h"

#include <functional>

#include "nest/number_accesses.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

ResultLevels::ResultLevels(const KernelContext& kernel) : kernel_(kernel) {
  if (kernel.assembles()) groups_ = result_groups(kernel.nest.tensor(kernel.result).type.format);
}

Expr ResultLevels::level_coordinate(int result_level, const KernelScope& scope) const {
  const Level& level =
      kernel_.nest.tensor(kernel_.result).type.format.levels()[static_cast<size_t>(result_level)];
  return kernel_.coordinates.level_coordinate(level.expr, kernel_.result_indices,
                                              scope.coordinates);
}

const LevelCode& ResultLevels::group_level(size_t group) const {
  return *levels()[static_cast<size_t>(groups_[group].first)];
}

bool ResultLevels::is_known(int result_level, const KernelScope& scope) const {
  return static_cast<bool>(level_coordinate(result_level, scope));
}

bool ResultLevels::must_visit_all(const nest::Forall& loop, const KernelScope& scope) const {
  if (groups_.empty() || scope.storing.producing) return false;
  // The innermost of its loops completes a split coordinate. The loops outside count too.
  KernelScope inside = scope;
  const std::function<void(const nest::Stmt&)> bind_loops = [&](const nest::Stmt& stmt) {
    if (const auto* inner = stmt.as<nest::Forall>()) {
      inside.coordinates[inner->var] = loop::Var::make(inner->var);
      bind_loops(inner->body);
    } else if (const auto* where = stmt.as<nest::Where>()) {
      bind_loops(where->consumer);
    }
  };
  if (!mutant("skipped-rows-unwritten")) bind_loops(loop.body);
  KernelScope bound = inside;
  bound.coordinates[loop.var] = loop::Var::make(loop.var);
  int last = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (group_level(g).finishes_rows()) last = groups_[g].first;
  }
  for (int l = 0; l < last; ++l) {
    const LevelCode& level = *levels()[static_cast<size_t>(l)];
    if (level.is_full() && !is_known(l, inside) && is_known(l, bound)) return true;
  }
  return false;
}

Expr ResultLevels::position(const KernelScope& scope, int last_level) const {
  const nest::Tensor& tensor = kernel_.nest.tensor(kernel_.result);
  if (!tensor.shares_pattern_of.empty()) {
    const std::string& owner = nest::structure_of(kernel_.nest, tensor.shares_pattern_of);
    for (const auto& [id, cursor] : scope.cursors) {
      const std::string& structure = nest::structure_of(kernel_.nest, cursor.access->tensor);
      if (structure != owner || scope.absent.contains(id)) continue;
      const auto& levels = kernel_.tensors.at(cursor.access->tensor).levels;
      Expr position = cursor.at.begin;
      for (int l = cursor.level; l < static_cast<int>(levels.size()); ++l) {
        position = levels[static_cast<size_t>(l)]->locate(position, level_coordinate(l, scope));
      }
      for (size_t l = levels.size(); l < this->levels().size(); ++l) {
        const LevelCode& below = *this->levels()[l];
        position = below.locate(position, level_coordinate(static_cast<int>(l), scope));
      }
      return position;
    }
    internal_error("the operand ", tensor.shares_pattern_of, " that ", kernel_.result,
                   " shares its pattern with");
  }
  Expr position = IntConst::make(0);
  size_t group = 0;
  for (int l = 0; l <= last_level; ++l) {
    const LevelCode& level = *levels()[static_cast<size_t>(l)];
    const bool is_grouped = group < groups_.size() && l >= groups_[group].first;
    if (!is_grouped) {
      position = level.locate(position, level_coordinate(l, scope));
    } else if (l == groups_[group].last) {
      position = scope.result.appended.at(static_cast<int>(group));
      ++group;
    }
  }
  return position;
}

std::set<std::string> ResultLevels::remainders() const {
  std::set<std::string> found;
  for (const Level& level : kernel_.nest.tensor(kernel_.result).type.format.levels()) {
    if (level.expr.part != LevelExpr::Part::Remainder) continue;
    for (const auto& [name, variable] : kernel_.nest.variables) {
      if (kernel_.coordinates.is_level_variable(level.expr, kernel_.result_indices, name))
        found.insert(name);
    }
  }
  return found;
}

bool ResultLevels::completes(int first, int last, const KernelScope& before,
                             const KernelScope& scope) const {
  bool now = true, earlier = true;
  for (int l = first; l <= last; ++l) {
    now = now && is_known(l, scope);
    earlier = earlier && is_known(l, before);
  }
  return now && !earlier;
}

bool ResultLevels::completes_entry(const KernelScope& before, const KernelScope& scope) const {
  return completes(groups_.back().first, groups_.back().last, before, scope);
}

bool ResultLevels::completes_row(size_t group, const KernelScope& before,
                                 const KernelScope& scope) const {
  const int above = groups_[group].first - 1;
  if (above < 0) return false;
  const LevelCode& level = *levels()[static_cast<size_t>(above)];
  return level.is_full() && completes(above, above, before, scope);
}

}  // namespace tulle::lower
