// Assembles a sparse result: appends entries in order, a group of levels at a time.
#pragma once

#include <vector>

#include "lower/kernel_context.h"
#include "lower/result/result_levels.h"
#include "lower/result/touches.h"

namespace tulle::lower {

// Keeps references to what it is given.
class ResultAssembly {
 public:
  ResultAssembly(KernelContext& kernel, Touches& touches) : kernel_(kernel), touches_(touches) {}
  ResultAssembly(const ResultAssembly&) = delete;
  ResultAssembly& operator=(const ResultAssembly&) = delete;

  // Before and after the loops of a chunk: where its entries begin, and how many there are.
  void begin_chunk(const loop::Expr& chunk, KernelScope& scope, Emitter& out);
  void end_chunk(const loop::Expr& chunk, Emitter& out);

  // Around the body of a loop that leads from the scope `before` to this one: an entry, if the loop
  // completes one.
  void build(const KernelScope& before, const KernelScope& scope, Emitter& out, const Body& body);
  // Before it: where the entries of this row begin, for levels that ask.
  void begin_rows(const KernelScope& before, KernelScope& scope, Emitter& out);
  // After it: where the entries of this row end.
  void finish_rows(const KernelScope& before, const KernelScope& scope, Emitter& out);
  // Instead of it, in padding: the rows below have no entries.
  void skip_rows(const KernelScope& before, const KernelScope& scope, Emitter& out);

  // Counts entries of the innermost group.
  void count(const loop::Expr& entries, Emitter& out);

  const ResultLevels& levels() const { return levels_; }

 private:
  // If a chunk has several members, only one of them stores the entries that all of them find.
  loop::Expr of_one_member(const loop::Expr& condition) const;
  void add_for_one_member(Emitter& statements, Emitter& out) const;
  void begin_row(int group, const loop::Expr& parent, KernelScope& scope, Emitter& out);
  void finish_row(int group, const loop::Expr& parent, const KernelScope& scope, Emitter& out);
  void append(int group, const KernelScope& scope, Emitter& out, const Body& body);
  // Lower the values of an entry, and the groups below it. Return whether the entry exists; null if
  // nothing is ever assigned to it.
  loop::Expr fill_entry(const KernelScope& scope, Emitter& out, const Body& body);
  loop::Expr fill_below(int group, const loop::Expr& position, KernelScope& scope, Emitter& out,
                        const Body& body);
  void insert_entry(int group, const loop::Expr& position, const KernelScope& scope, Emitter& out);
  // Whether no full levels lie between this group and the next one, whose rows then are its own to
  // begin and finish.
  bool has_rows_right_below(int group) const;

  KernelContext& kernel_;
  Touches& touches_;
  ResultLevels levels_{kernel_};
  const std::vector<ResultGroup>& groups_ = levels_.groups();
  std::vector<loop::Expr> counters_;  // of entries in each group, mutable
  loop::Expr widest_;  // the most entries of a row so far, mutable; null if the format has no width
};

}  // namespace tulle::lower
