// Counters of entries, and what is stored when one is complete.
#include "lower/result_assembly.h"

#include <functional>

#include "lower/kernel_parameters.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

ResultAssembly::ResultAssembly(KernelContext& kernel, Touches& touches)
    : kernel_(kernel), touches_(touches) {
  if (kernel.assembles()) groups_ = result_groups(kernel.nest.tensor(kernel.result).type.format);
}

void ResultAssembly::begin_chunk(const Expr& chunk, Scope& scope, Emitter& out) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    const loop::Buffer counts =
        loop::make_buffer(count_buffer_name(kernel_.result, g), DType::Int64);
    const bool counted = kernel_.phase == Phase::Fill && groups_[g].is_counted;
    const Expr begin = counted ? loop::Load::make(counts, chunk) : IntConst::make(0);
    counters_.push_back(out.declare(concat(kernel_.result, "_next", g), begin));
  }
  if (kernel_.phase == Phase::Count && innermost_level().most_entries() > 0) {
    widest_ = out.declare(kernel_.result + "_width", IntConst::make(0));
  }
  if (kernel_.phase == Phase::Fill) {
    Emitter first = out.nested();
    for (const auto& level : result_levels()) level->open(first);
    if (!first.empty())
      out.add(loop::If::make(of_one_member(chunk == IntConst::make(0)), first.take()));
  }
  if (!groups_.empty() && groups_[0].first == 0) begin_row(0, IntConst::make(0), scope, out);
}

void ResultAssembly::end_chunk(const Expr& chunk, Emitter& out) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (!groups_[g].is_counted) {
      // Its level says how many positions there are.
    } else if (kernel_.phase == Phase::Count) {
      out.store(loop::make_buffer(count_buffer_name(kernel_.result, g), DType::Int64), chunk,
                counters_[g]);
    } else if (groups_[g].first == 0) {
      Emitter last = out.nested();
      result_levels()[0]->finish(last, IntConst::make(0), counters_[g]);
      out.add(loop::If::make(of_one_member(chunk == kernel_.chunks - 1), last.take()));
    }
  }
  if (widest_) {
    out.add(loop::Atomic::make(loop::ReduceOp::Max,
                               loop::make_buffer(width_buffer_name(kernel_.result), DType::Int64),
                               IntConst::make(0), widest_));
  }
}

Expr ResultAssembly::of_one_member(const Expr& condition) const {
  return kernel_.stores_structure ? loop::both(kernel_.stores_structure, condition) : condition;
}

void ResultAssembly::add_for_one_member(Emitter& statements, Emitter& out) const {
  if (statements.empty()) return;
  if (kernel_.stores_structure) {
    out.add(loop::If::make(kernel_.stores_structure, statements.take()));
  } else {
    for (loop::Stmt& stmt : statements.take_statements()) out.add(std::move(stmt));
  }
}

Expr ResultAssembly::level_coordinate(int result_level, const Scope& scope) const {
  const Level& level =
      kernel_.nest.tensor(kernel_.result).type.format.levels()[static_cast<size_t>(result_level)];
  return kernel_.coordinates.level_coordinate(level.expr, kernel_.result_indices, scope);
}

const LevelCode& ResultAssembly::group_level(size_t group) const {
  return *result_levels()[static_cast<size_t>(groups_[group].first)];
}

bool ResultAssembly::is_known(int result_level, const Scope& scope) const {
  return static_cast<bool>(level_coordinate(result_level, scope));
}

bool ResultAssembly::must_visit_all(const nest::Forall& loop, const Scope& scope) const {
  if (groups_.empty() || scope.producing) return false;
  // A coordinate that was split is known in the last of its loops; those outside count as well.
  Scope inside = scope;
  const std::function<void(const nest::Stmt&)> bind_loops = [&](const nest::Stmt& stmt) {
    if (const auto* inner = stmt.as<nest::Forall>()) {
      inside.coordinates[inner->var] = loop::Var::make(inner->var);
      bind_loops(inner->body);
    } else if (const auto* where = stmt.as<nest::Where>()) {
      bind_loops(where->consumer);
    }
  };
  if (!mutant("skipped-rows-unwritten")) bind_loops(loop.body);
  Scope bound = inside;
  bound.coordinates[loop.var] = loop::Var::make(loop.var);
  int last = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (group_level(g).finishes_rows()) last = groups_[g].first;
  }
  for (int l = 0; l < last; ++l) {
    const LevelCode& level = *result_levels()[static_cast<size_t>(l)];
    if (level.is_full() && !is_known(l, inside) && is_known(l, bound)) return true;
  }
  return false;
}

Expr ResultAssembly::position(const Scope& scope, int last_level) const {
  const nest::Tensor& tensor = kernel_.nest.tensor(kernel_.result);
  if (!tensor.shares_pattern_of.empty()) {
    for (const auto& [id, cursor] : scope.cursors) {
      if (cursor.access->tensor != tensor.shares_pattern_of || scope.absent.contains(id)) continue;
      const auto& levels = kernel_.tensors.at(cursor.access->tensor).levels;
      Expr position = cursor.at.begin;
      for (int l = cursor.level; l < static_cast<int>(levels.size()); ++l) {
        position = levels[static_cast<size_t>(l)]->locate(position, level_coordinate(l, scope));
      }
      return position;
    }
    internal_error("the operand ", tensor.shares_pattern_of, " that ", kernel_.result,
                   " shares its pattern with");
  }
  Expr position = IntConst::make(0);
  size_t group = 0;
  for (int l = 0; l <= last_level; ++l) {
    const LevelCode& level = *result_levels()[static_cast<size_t>(l)];
    const bool is_grouped = group < groups_.size() && l >= groups_[group].first;
    if (!is_grouped) {
      position = level.locate(position, level_coordinate(l, scope));
    } else if (l == groups_[group].last) {
      position = scope.appended.at(static_cast<int>(group));
      ++group;
    }
  }
  return position;
}

std::set<std::string> ResultAssembly::remainders() const {
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

bool ResultAssembly::completes(int first, int last, const Scope& before, const Scope& scope) const {
  bool now = true, earlier = true;
  for (int l = first; l <= last; ++l) {
    now = now && is_known(l, scope);
    earlier = earlier && is_known(l, before);
  }
  return now && !earlier;
}

bool ResultAssembly::completes_entry(const Scope& before, const Scope& scope) const {
  return completes(groups_.back().first, groups_.back().last, before, scope);
}

void ResultAssembly::count(const Expr& entries, Emitter& out) {
  out.assign(counters_.back(), counters_.back() + entries);
}

void ResultAssembly::build(const Scope& before, const Scope& scope, Emitter& out,
                           const Body& body) {
  int group = -1;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (completes(groups_[g].first, groups_[g].last, before, scope)) group = static_cast<int>(g);
  }
  if (group >= 0) {
    append(group, scope, out, body);
  } else {
    body(scope, out);
  }
}

bool ResultAssembly::completes_row(size_t group, const Scope& before, const Scope& scope) const {
  const int above = groups_[group].first - 1;
  if (above < 0) return false;
  const LevelCode& level = *result_levels()[static_cast<size_t>(above)];
  return level.is_full() && completes(above, above, before, scope);
}

void ResultAssembly::begin_rows(const Scope& before, Scope& scope, Emitter& out) {
  for (size_t g = 0; g < groups_.size() && !scope.producing; ++g) {
    if (!group_level(g).needs_row() || !completes_row(g, before, scope)) continue;
    begin_row(static_cast<int>(g), position(scope, groups_[g].first - 1), scope, out);
  }
}

void ResultAssembly::begin_row(int group, const Expr& parent, Scope& scope, Emitter& out) {
  const LevelCode& level = group_level(static_cast<size_t>(group));
  if (!level.needs_row()) return;
  const Expr& counter = counters_[static_cast<size_t>(group)];
  const Expr begin = level.row_begin(parent, counter);
  if (begin.get() != counter.get()) out.assign(counter, begin);
  scope.rows[group] = {parent, out.snapshot("row_begin", counter)};
}

void ResultAssembly::finish_rows(const Scope& before, const Scope& scope, Emitter& out) {
  for (size_t g = 0; g < groups_.size() && !scope.producing; ++g) {
    if (!completes_row(g, before, scope)) continue;
    const Expr parent =
        kernel_.phase == Phase::Fill ? position(scope, groups_[g].first - 1) : Expr();
    finish_row(static_cast<int>(g), parent, scope, out);
  }
}

void ResultAssembly::finish_row(int group, const Expr& parent, const Scope& scope, Emitter& out) {
  const LevelCode& level = group_level(static_cast<size_t>(group));
  const Expr& counter = counters_[static_cast<size_t>(group)];
  if (kernel_.phase == Phase::Fill) {
    Emitter last = out.nested();
    level.finish(last, parent, counter);
    if (scope.ends_here && !last.empty() && !mutant("cut-row-finished-twice")) {
      out.add(loop::If::make(of_one_member(scope.ends_here), last.take()));
    } else {
      add_for_one_member(last, out);
    }
  }
  if (widest_ && level.most_entries() > 0) {
    out.assign(widest_, loop::maximum(widest_, counter - scope.rows.at(group).begin));
  }
  const Expr end = level.row_end(counter);
  if (end.get() != counter.get()) out.assign(counter, end);
}

void ResultAssembly::skip_rows(const Scope& before, const Scope& scope, Emitter& out) {
  if (kernel_.phase != Phase::Fill || scope.producing) return;
  const auto& format_levels = kernel_.nest.tensor(kernel_.result).type.format.levels();
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
      rows = rows * kernel_.coordinates.level_extent(format_levels[static_cast<size_t>(l)].expr,
                                                     kernel_.result_indices);
    }
    const Expr first = out.let("row", position(scope, from) * rows);
    const std::string variable = kernel_.names.fresh("skipped");
    Emitter body = out.nested();
    const LevelCode& level = group_level(g);
    const Expr row = first + loop::Var::make(variable);
    level.finish(body, row, level.row_begin(row, counters_[g]));
    Emitter skipped = out.nested();
    skipped.add(loop::For::make(variable, IntConst::make(0), rows, body.take()));
    add_for_one_member(skipped, out);
  }
}

void ResultAssembly::append(int group, const Scope& scope, Emitter& out, const Body& body) {
  const ResultGroup& levels = groups_[static_cast<size_t>(group)];
  const Expr& counter = counters_[static_cast<size_t>(group)];
  const bool innermost = static_cast<size_t>(group) + 1 == groups_.size();
  const LevelCode& level = group_level(static_cast<size_t>(group));
  Expr next = counter;
  if (level.needs_row()) {
    const Row& row = scope.rows.at(group);
    next = level.slot(row.parent, row.begin, counter, level_coordinate(levels.first, scope));
  }
  const Expr position = out.snapshot(concat(kernel_.result, "_at", group), next);
  Scope inner = scope;
  inner.appended[group] = position;
  inner.conditional = false;
  inner.touched = false;

  Expr exists = IntConst::make(1, loop::kBool);
  Emitter work = out.nested();
  if (innermost) {
    Touch mine;
    mine.flag = loop::Var::make(kernel_.names.fresh("touched"), loop::kBool);
    {
      const Touches::Within within(touches_, &mine);
      body(inner, work);
    }
    if (!mine.always && !mine.sometimes) return;  // nothing is ever assigned here
    if (mine.sometimes) {
      out.add(loop::Declare::make(mine.flag.as<loop::Var>()->name, IntConst::make(0, loop::kBool)));
      if (!mine.always && !mutant("append-untouched")) exists = mine.flag;
      kernel_.has_conditional_entries |= !mine.always;
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
  if (kernel_.phase == Phase::Fill) {
    const auto& code_of = result_levels();
    Emitter entry = out.nested();
    for (int l = levels.first; l <= levels.last; ++l) {
      code_of[static_cast<size_t>(l)]->insert(entry, position, level_coordinate(l, scope));
    }
    add_for_one_member(entry, commit);
  }
  // Where full levels stand between, their rows have been finished.
  if (!innermost && groups_[static_cast<size_t>(group) + 1].first == levels.last + 1) {
    finish_row(group + 1, position, inner, commit);
  }
  commit.assign(counter, level.count(position, counter));
  out.add(loop::If::make(exists, commit.take()));
}

}  // namespace tulle::lower
