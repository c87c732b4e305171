// Counts entries and stores the structure of complete ones.
#include "lower/result/result_assembly.h"

#include "lower/kernel_parameters.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

void ResultAssembly::begin_chunk(const Expr& chunk, KernelScope& scope, Emitter& out) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    const loop::Buffer counts =
        loop::make_buffer(count_buffer_name(kernel_.result, g), DType::Int64);
    const bool counted = kernel_.phase == Phase::Fill && groups_[g].is_counted;
    const Expr begin = counted ? loop::Load::make(counts, chunk) : IntConst::make(0);
    counters_.push_back(out.declare(concat(kernel_.result, "_next", g), begin));
  }
  if (kernel_.phase == Phase::Count && levels_.innermost_level().most_entries() > 0) {
    widest_ = out.declare(kernel_.result + "_width", IntConst::make(0));
  }
  if (kernel_.phase == Phase::Fill) {
    Emitter first = out.nested();
    for (const auto& level : levels_.levels()) level->open(first);
    if (!first.empty())
      out.add(loop::If::make(of_one_member(chunk == IntConst::make(0)), first.take()));
  }
  if (!groups_.empty() && groups_[0].first == 0) begin_row(0, IntConst::make(0), scope, out);
}

void ResultAssembly::end_chunk(const Expr& chunk, Emitter& out) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (!groups_[g].is_counted) {
      // The level computes the number of positions.
    } else if (kernel_.phase == Phase::Count) {
      out.store(loop::make_buffer(count_buffer_name(kernel_.result, g), DType::Int64), chunk,
                counters_[g]);
    } else if (groups_[g].first == 0) {
      Emitter last = out.nested();
      levels_.levels()[0]->finish(last, IntConst::make(0), counters_[g]);
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
    out.append(statements);
  }
}

void ResultAssembly::count(const Expr& entries, Emitter& out) {
  out.assign(counters_.back(), counters_.back() + entries);
}

void ResultAssembly::build(const KernelScope& before, const KernelScope& scope, Emitter& out,
                           const BodyLowering& body) {
  int group = -1;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (levels_.completes(groups_[g].first, groups_[g].last, before, scope))
      group = static_cast<int>(g);
  }
  if (group >= 0) {
    append(group, scope, out, body);
  } else {
    body(scope, out);
  }
}

void ResultAssembly::begin_rows(const KernelScope& before, KernelScope& scope, Emitter& out) {
  for (size_t g = 0; g < groups_.size() && !scope.storing.producing; ++g) {
    if (!levels_.group_level(g).needs_row() || !levels_.completes_row(g, before, scope)) continue;
    begin_row(static_cast<int>(g), levels_.position(scope, groups_[g].first - 1), scope, out);
  }
}

void ResultAssembly::begin_row(int group, const Expr& parent, KernelScope& scope, Emitter& out) {
  const LevelCode& level = levels_.group_level(static_cast<size_t>(group));
  if (!level.needs_row()) return;
  const Expr& counter = counters_[static_cast<size_t>(group)];
  const Expr begin = level.row_begin(parent, counter);
  if (begin.get() != counter.get()) out.assign(counter, begin);
  scope.result.rows[group] = {parent, out.snapshot("row_begin", counter)};
}

void ResultAssembly::finish_rows(const KernelScope& before, const KernelScope& scope,
                                 Emitter& out) {
  for (size_t g = 0; g < groups_.size() && !scope.storing.producing; ++g) {
    if (!levels_.completes_row(g, before, scope)) continue;
    const Expr parent =
        kernel_.phase == Phase::Fill ? levels_.position(scope, groups_[g].first - 1) : Expr();
    finish_row(static_cast<int>(g), parent, scope, out);
  }
}

void ResultAssembly::finish_row(int group, const Expr& parent, const KernelScope& scope,
                                Emitter& out) {
  const LevelCode& level = levels_.group_level(static_cast<size_t>(group));
  const Expr& counter = counters_[static_cast<size_t>(group)];
  if (kernel_.phase == Phase::Fill) {
    Emitter last = out.nested();
    level.finish(last, parent, counter);
    if (scope.row.ends_here && !last.empty() && !mutant("cut-row-finished-twice")) {
      out.add(loop::If::make(of_one_member(scope.row.ends_here), last.take()));
    } else {
      add_for_one_member(last, out);
    }
  }
  if (widest_ && level.most_entries() > 0) {
    out.assign(widest_, loop::maximum(widest_, counter - scope.result.rows.at(group).begin));
  }
  const Expr end = level.row_end(counter);
  if (end.get() != counter.get()) out.assign(counter, end);
}

void ResultAssembly::skip_rows(const KernelScope& before, const KernelScope& scope, Emitter& out) {
  if (kernel_.phase != Phase::Fill || scope.storing.producing) return;
  const auto& format_levels = kernel_.nest.tensor(kernel_.result).type.format.levels();
  for (size_t g = 0; g < groups_.size(); ++g) {
    // Only full levels are between the level that this loop completes and the group.
    int from = -1;
    for (int l = groups_[g].first - 1;
         l >= 0 && is_full(format_levels[static_cast<size_t>(l)].kind); --l) {
      if (levels_.completes(l, l, before, scope)) from = l;
    }
    if (from < 0 || from + 1 == groups_[g].first) continue;
    Expr rows = IntConst::make(1);
    for (int l = from + 1; l < groups_[g].first; ++l) {
      rows = rows * kernel_.coordinates.level_extent(format_levels[static_cast<size_t>(l)].expr,
                                                     kernel_.result_indices);
    }
    const Expr first = out.let("row", levels_.position(scope, from) * rows);
    const std::string variable = kernel_.names.fresh("skipped");
    Emitter body = out.nested();
    const LevelCode& level = levels_.group_level(g);
    const Expr row = first + loop::Var::make(variable);
    level.finish(body, row, level.row_begin(row, counters_[g]));
    Emitter skipped = out.nested();
    skipped.add(loop::For::make(variable, IntConst::make(0), rows, body.take()));
    add_for_one_member(skipped, out);
  }
}

void ResultAssembly::append(int group, const KernelScope& scope, Emitter& out,
                            const BodyLowering& body) {
  const size_t g = static_cast<size_t>(group);
  const LevelCode& level = levels_.group_level(g);
  Expr next = counters_[g];
  if (level.needs_row()) {
    const ResultRow& row = scope.result.rows.at(group);
    next =
        level.slot(row.parent, row.begin, next, levels_.level_coordinate(groups_[g].first, scope));
  }
  const Expr position = out.snapshot(concat(kernel_.result, "_at", group), next);
  KernelScope inner = scope;
  inner.result.appended[group] = position;
  inner.storing.conditional = false;
  inner.storing.touched = false;
  const bool is_innermost = g + 1 == groups_.size();
  const Expr exists =
      is_innermost ? fill_entry(inner, out, body) : fill_below(group, position, inner, out, body);
  if (!exists) return;

  Emitter commit = out.nested();
  if (kernel_.phase == Phase::Fill) insert_entry(group, position, scope, commit);
  if (!is_innermost && has_rows_right_below(group)) finish_row(group + 1, position, inner, commit);
  commit.assign(counters_[g], level.count(position, counters_[g]));
  out.add(loop::If::make(exists, commit.take()));
}

Expr ResultAssembly::fill_entry(const KernelScope& scope, Emitter& out, const BodyLowering& body) {
  Touch mine;
  mine.flag = loop::Var::make(kernel_.names.fresh("touched"), loop::kBool);
  Emitter work = out.nested();
  {
    const Touches::Within within(touches_, &mine);
    body(scope, work);
  }
  if (!mine.always && !mine.sometimes) return {};
  Expr exists = IntConst::make(1, loop::kBool);
  if (mine.sometimes) {
    out.add(loop::Declare::make(mine.flag.as<loop::Var>()->name, IntConst::make(0, loop::kBool)));
    if (!mine.always && !mutant("append-untouched")) exists = mine.flag;
    kernel_.facts.has_conditional_entries |= !mine.always;
  }
  out.append(work);
  return exists;
}

Expr ResultAssembly::fill_below(int group, const Expr& position, KernelScope& scope, Emitter& out,
                                const BodyLowering& body) {
  if (has_rows_right_below(group)) begin_row(group + 1, position, scope, out);
  const Expr& below = counters_[static_cast<size_t>(group) + 1];
  const Expr start = out.snapshot("start", below);
  body(scope, out);
  return below != start;
}

void ResultAssembly::insert_entry(int group, const Expr& position, const KernelScope& scope,
                                  Emitter& out) {
  const ResultGroup& levels = groups_[static_cast<size_t>(group)];
  Emitter entry = out.nested();
  for (int l = levels.first; l <= levels.last; ++l) {
    levels_.levels()[static_cast<size_t>(l)]->insert(entry, position,
                                                     levels_.level_coordinate(l, scope));
  }
  add_for_one_member(entry, out);
}

bool ResultAssembly::has_rows_right_below(int group) const {
  const size_t g = static_cast<size_t>(group);
  return groups_[g + 1].first == groups_[g].last + 1;
}

}  // namespace tulle::lower
