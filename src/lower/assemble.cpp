// Assembly of a sparse result: entries are appended in order, a group of levels at a time.
#include "lower/kernel_lowering.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

Expr KernelLowering::level_coordinate(int result_level, const Scope& scope) const {
  const Level& level =
      nest_.tensor(result_).type.format.levels()[static_cast<size_t>(result_level)];
  return coordinates_.level_coordinate(
      level.expr, result_indices_[static_cast<size_t>(level.expr.dimension)], scope);
}

bool KernelLowering::is_known(int result_level, const Scope& scope) const {
  return static_cast<bool>(level_coordinate(result_level, scope));
}

bool KernelLowering::must_visit_all(const nest::Forall& loop, const Scope& scope) const {
  if (groups_.empty() || scope.producing) return false;
  Scope bound = scope;
  bound.coordinates[loop.var] = loop::Var::make(loop.var);
  for (int l = 0; l < groups_.back().first; ++l) {
    const LevelCode& level = *tensors_.at(result_).levels[static_cast<size_t>(l)];
    if (level.is_full() && !is_known(l, scope) && is_known(l, bound)) return true;
  }
  return false;
}

std::set<std::string> KernelLowering::remainders() const {
  std::set<std::string> found;
  for (const Level& level : nest_.tensor(result_).type.format.levels()) {
    if (level.expr.part != LevelExpr::Part::Remainder) continue;
    const std::string& index = result_indices_[static_cast<size_t>(level.expr.dimension)];
    for (const auto& [name, variable] : nest_.variables) {
      if (coordinates_.is_level_variable(level.expr, index, name)) found.insert(name);
    }
  }
  return found;
}

bool KernelLowering::completes(int first, int last, const Scope& before, const Scope& scope) const {
  bool now = true, earlier = true;
  for (int l = first; l <= last; ++l) {
    now = now && is_known(l, scope);
    earlier = earlier && is_known(l, before);
  }
  return now && !earlier;
}

void KernelLowering::build_result(const Scope& before, const Scope& scope, Emitter& out,
                                  const Body& body) {
  int group = -1;
  for (size_t g = 0; g < groups_.size() && !scope.producing; ++g) {
    if (completes(groups_[g].first, groups_[g].last, before, scope)) group = static_cast<int>(g);
  }
  if (group >= 0) {
    append(group, scope, out, body);
  } else {
    body(scope, out);
  }
}

void KernelLowering::finish_rows(const Scope& before, const Scope& scope, Emitter& out) {
  if (phase_ != Phase::Fill || scope.producing) return;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const int above = groups_[g].first - 1;
    if (above < 0) continue;
    const auto& levels = code(result_).levels;
    if (!levels[static_cast<size_t>(above)]->is_full() || !completes(above, above, before, scope))
      continue;
    levels[static_cast<size_t>(above) + 1]->finish(out, result_position(scope, above),
                                                   counters_[g]);
  }
}

void KernelLowering::skip_rows(const Scope& before, const Scope& scope, Emitter& out) {
  if (phase_ != Phase::Fill || scope.producing) return;
  const auto& format_levels = nest_.tensor(result_).type.format.levels();
  for (size_t g = 0; g < groups_.size(); ++g) {
    // From the level that this loop completes down to the group there are full levels only.
    int from = -1;
    for (int l = groups_[g].first - 1;
         l >= 0 && is_full(format_levels[static_cast<size_t>(l)].kind); --l) {
      if (completes(l, l, before, scope)) from = l;
    }
    if (from < 0 || from + 1 == groups_[g].first) continue;
    Expr rows = IntConst::make(1);
    for (int l = from + 1; l < groups_[g].first; ++l) {
      const LevelExpr& level = format_levels[static_cast<size_t>(l)].expr;
      rows = rows * coordinates_.level_extent(
                        level, result_indices_[static_cast<size_t>(level.dimension)]);
    }
    const Expr first = out.let("row", result_position(scope, from) * rows);
    const std::string variable = names_.fresh("skipped");
    Emitter body = out.nested();
    code(result_).levels[static_cast<size_t>(groups_[g].first)]->finish(
        body, first + loop::Var::make(variable), counters_[g]);
    out.add(loop::For::make(variable, IntConst::make(0), rows, body.take()));
  }
}

void KernelLowering::append(int group, const Scope& scope, Emitter& out, const Body& body) {
  const ResultGroup& levels = groups_[static_cast<size_t>(group)];
  const Expr& counter = counters_[static_cast<size_t>(group)];
  const bool innermost = static_cast<size_t>(group) + 1 == groups_.size();
  const Expr position = out.snapshot(concat(result_, "_at", group), counter);
  Scope inner = scope;
  inner.appended[group] = position;
  inner.conditional = false;
  inner.touched = false;

  Expr exists = IntConst::make(1, loop::kBool);
  Emitter work = out.nested();
  if (innermost) {
    Touch mine;
    mine.flag = loop::Var::make(names_.fresh("touched"), loop::kBool);
    Touch* outer = touch_;
    touch_ = &mine;
    body(inner, work);
    touch_ = outer;
    if (!mine.always && !mine.sometimes) return;  // nothing is ever assigned here
    if (mine.sometimes) {
      out.add(loop::Declare::make(mine.flag.as<loop::Var>()->name, IntConst::make(0, loop::kBool)));
      if (!mine.always && !mutant("append-untouched")) exists = mine.flag;
    }
  } else {
    const Expr& below = counters_[static_cast<size_t>(group) + 1];
    const Expr start = out.snapshot("start", below);
    body(inner, work);
    exists = below != start;
  }
  for (loop::Stmt& stmt : work.take_statements()) out.add(std::move(stmt));

  Emitter commit = out.nested();
  if (phase_ == Phase::Fill) {
    const auto& code_of = code(result_).levels;
    for (int l = levels.first; l <= levels.last; ++l) {
      code_of[static_cast<size_t>(l)]->insert(commit, position, level_coordinate(l, scope));
    }
    if (!innermost) {
      const size_t next = static_cast<size_t>(levels.last) + 1;
      code_of[next]->finish(commit, position, counters_[static_cast<size_t>(group) + 1]);
    }
  }
  commit.assign(counter, position + 1);
  out.add(loop::If::make(exists, commit.take()));
}

}  // namespace tulle::lower
