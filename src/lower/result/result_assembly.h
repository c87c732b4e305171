// Assembles a sparse result: appends entries in order, for one group of levels at a time.
#pragma once

#include <vector>

#include "lower/kernel_context.h"
#include "lower/result/result_levels.h"
#include "lower/result/touches.h"

namespace tulle::lower {

// Keeps references to its arguments.
class ResultAssembly {
 public:
  ResultAssembly(KernelContext& kernel, Touches& touches) : kernel_(kernel), touches_(touches) {}
  ResultAssembly(const ResultAssembly&) = delete;
  ResultAssembly& operator=(const ResultAssembly&) = delete;

  // Emit code before and after the loops of a chunk: the first position of its entries, and their
  // number.
  void begin_chunk(const loop::Expr& chunk, KernelScope& scope, Emitter& out);
  void end_chunk(const loop::Expr& chunk, Emitter& out);

  // Wraps the body of a loop that leads from the scope `before` to this one in an entry, if the
  // loop completes one.
  void build(const KernelScope& before, const KernelScope& scope, Emitter& out,
             const BodyLowering& body);
  // Emits code before the body: the first position of this row's entries, for levels that need it.
  void begin_rows(const KernelScope& before, KernelScope& scope, Emitter& out);
  // Emits code after the body: the end of this row's entries.
  void finish_rows(const KernelScope& before, const KernelScope& scope, Emitter& out);
  // Replaces the body in padding: the rows below are empty.
  void skip_rows(const KernelScope& before, const KernelScope& scope, Emitter& out);

  // Counts entries of the innermost group.
  void count(const loop::Expr& entries, Emitter& out);

  const ResultLevels& levels() const { return levels_; }

 private:
  // Restricts the condition to one member of a chunk, because all members find the same entries.
  loop::Expr of_one_member(const loop::Expr& condition) const;
  void add_for_one_member(Emitter& statements, Emitter& out) const;
  void begin_row(int group, const loop::Expr& parent, KernelScope& scope, Emitter& out);
  void finish_row(int group, const loop::Expr& parent, const KernelScope& scope, Emitter& out);
  void append(int group, const KernelScope& scope, Emitter& out, const BodyLowering& body);
  // Lower the values of an entry and the groups below it. Return whether the entry exists. Null if
  // nothing is ever assigned to it.
  loop::Expr fill_entry(const KernelScope& scope, Emitter& out, const BodyLowering& body);
  loop::Expr fill_below(int group, const loop::Expr& position, KernelScope& scope, Emitter& out,
                        const BodyLowering& body);
  void insert_entry(int group, const loop::Expr& position, const KernelScope& scope, Emitter& out);
  // Whether no full levels are between this group and the next one. Then this group begins and
  // finishes the rows of the next.
  bool has_rows_right_below(int group) const;

  KernelContext& kernel_;
  Touches& touches_;
  ResultLevels levels_{kernel_};
  const std::vector<ResultGroup>& groups_ = levels_.groups();
  std::vector<loop::Expr> counters_;  // mutable: the number of entries in each group
  // mutable: the maximum length of a row so far; null if the format has no width
  loop::Expr widest_;
};

}  // namespace tulle::lower
