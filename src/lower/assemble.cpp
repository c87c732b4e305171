// Assembly of a sparse result: entries are appended in order, a group of levels at a time.
#include <functional>

#include "lower/kernel_lowering.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

Expr KernelLowering::level_coordinate(int result_level, const Scope& scope) const {
  const Level& level =
      nest_.tensor(result_).type.format.levels()[static_cast<size_t>(result_level)];
  return coordinates_.level_coordinate(level.expr, result_indices_, scope);
}

const LevelCode& KernelLowering::group_level(size_t group) const {
  return *tensors_.at(result_).levels[static_cast<size_t>(groups_[group].first)];
}

bool KernelLowering::is_known(int result_level, const Scope& scope) const {
  return static_cast<bool>(level_coordinate(result_level, scope));
}

bool KernelLowering::must_visit_all(const nest::Forall& loop, const Scope& scope) const {
  if (groups_.empty() || scope.producing) return false;
  // A coordinate that was split is known in the last of its loops; those outside count as well.
  Scope inside = scope;
  const std::function<void(const nest::Stmt&)> bind_loops = [&](const nest::Stmt& stmt) {
    if (const auto* inner = stmt.as<nest::Forall>()) {
      inside.coordinates[inner->var] = loop::Var::make(inner->var);
      bind_loops(inner->body);
    }
  };
  if (nest_.variable(loop.var).origin == nest::Variable::Origin::Outer) bind_loops(loop.body);
  Scope bound = inside;
  bound.coordinates[loop.var] = loop::Var::make(loop.var);
  int last = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (group_level(g).finishes_rows()) last = groups_[g].first;
  }
  for (int l = 0; l < last; ++l) {
    const LevelCode& level = *tensors_.at(result_).levels[static_cast<size_t>(l)];
    if (level.is_full() && !is_known(l, inside) && is_known(l, bound)) return true;
  }
  return false;
}

std::set<std::string> KernelLowering::remainders() const {
  std::set<std::string> found;
  for (const Level& level : nest_.tensor(result_).type.format.levels()) {
    if (level.expr.part != LevelExpr::Part::Remainder) continue;
    for (const auto& [name, variable] : nest_.variables) {
      if (coordinates_.is_level_variable(level.expr, result_indices_, name)) found.insert(name);
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

void KernelLowering::build_result(const nest::Stmt& stmt, const Scope& before, const Scope& scope,
                                  Emitter& out, const Body& body) {
  if (scope.producing) {
    const nest::Assign* block = block_at(stmt, before, scope);
    return block ? track_block(*block, scope, out, body) : body(scope, out);
  }
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

bool KernelLowering::completes_row(size_t group, const Scope& before, const Scope& scope) const {
  const int above = groups_[group].first - 1;
  if (above < 0) return false;
  const LevelCode& level = *tensors_.at(result_).levels[static_cast<size_t>(above)];
  return level.is_full() && completes(above, above, before, scope);
}

void KernelLowering::begin_rows(const Scope& before, Scope& scope, Emitter& out) {
  for (size_t g = 0; g < groups_.size() && !scope.producing; ++g) {
    if (!group_level(g).needs_row() || !completes_row(g, before, scope)) continue;
    begin_row(static_cast<int>(g), result_position(scope, groups_[g].first - 1), scope, out);
  }
}

void KernelLowering::begin_row(int group, const Expr& parent, Scope& scope, Emitter& out) {
  const LevelCode& level = group_level(static_cast<size_t>(group));
  if (!level.needs_row()) return;
  const Expr& counter = counters_[static_cast<size_t>(group)];
  const Expr begin = level.row_begin(parent, counter);
  if (begin.get() != counter.get()) out.assign(counter, begin);
  scope.rows[group] = {parent, out.snapshot("row_begin", counter)};
}

void KernelLowering::finish_rows(const Scope& before, const Scope& scope, Emitter& out) {
  for (size_t g = 0; g < groups_.size() && !scope.producing; ++g) {
    if (!completes_row(g, before, scope)) continue;
    const Expr parent =
        phase_ == Phase::Fill ? result_position(scope, groups_[g].first - 1) : Expr();
    finish_row(static_cast<int>(g), parent, scope, out);
  }
}

void KernelLowering::finish_row(int group, const Expr& parent, const Scope& scope, Emitter& out) {
  const LevelCode& level = group_level(static_cast<size_t>(group));
  const Expr& counter = counters_[static_cast<size_t>(group)];
  if (phase_ == Phase::Fill) level.finish(out, parent, counter);
  if (widest_ && level.most_entries() > 0) {
    out.assign(widest_, loop::maximum(widest_, counter - scope.rows.at(group).begin));
  }
  const Expr end = level.row_end(counter);
  if (end.get() != counter.get()) out.assign(counter, end);
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
      rows = rows *
             coordinates_.level_extent(format_levels[static_cast<size_t>(l)].expr, result_indices_);
    }
    const Expr first = out.let("row", result_position(scope, from) * rows);
    const std::string variable = names_.fresh("skipped");
    Emitter body = out.nested();
    const LevelCode& level = group_level(g);
    const Expr row = first + loop::Var::make(variable);
    level.finish(body, row, level.row_begin(row, counters_[g]));
    out.add(loop::For::make(variable, IntConst::make(0), rows, body.take()));
  }
}

void KernelLowering::append(int group, const Scope& scope, Emitter& out, const Body& body) {
  const ResultGroup& levels = groups_[static_cast<size_t>(group)];
  const Expr& counter = counters_[static_cast<size_t>(group)];
  const bool innermost = static_cast<size_t>(group) + 1 == groups_.size();
  const LevelCode& level = group_level(static_cast<size_t>(group));
  Expr next = counter;
  if (level.needs_row()) {
    const Row& row = scope.rows.at(group);
    next = level.slot(row.parent, row.begin, counter, level_coordinate(levels.first, scope));
  }
  const Expr position = out.snapshot(concat(result_, "_at", group), next);
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
    if (groups_[static_cast<size_t>(group) + 1].first == levels.last + 1) {
      begin_row(group + 1, position, inner, out);
    }
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
  }
  // Where full levels stand between, their rows have been finished.
  if (!innermost && groups_[static_cast<size_t>(group) + 1].first == levels.last + 1) {
    finish_row(group + 1, position, inner, commit);
  }
  commit.assign(counter, level.count(position, counter));
  out.add(loop::If::make(exists, commit.take()));
}

}  // namespace tulle::lower
