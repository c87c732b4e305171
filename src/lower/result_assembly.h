// Where the entries of a result are stored, and how a sparse one comes into being: entries are
// appended in order, a group of levels at a time.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lower/kernel_context.h"
#include "lower/result_groups.h"
#include "lower/touches.h"

namespace tulle::lower {

// Keeps references to what it is given.
class ResultAssembly {
 public:
  ResultAssembly(KernelContext& kernel, Touches& touches);

  // Before and after what a chunk does: where its entries begin, and how many there are.
  void begin_chunk(const loop::Expr& chunk, Scope& scope, Emitter& out);
  void end_chunk(const loop::Expr& chunk, Emitter& out);

  // Around the body of a loop that leads from the scope `before` to this one: an entry, if the loop
  // completes one.
  void build(const Scope& before, const Scope& scope, Emitter& out, const Body& body);
  // Before it: where the entries of this row begin, for levels that ask.
  void begin_rows(const Scope& before, Scope& scope, Emitter& out);
  // After it: where the entries of this row end.
  void finish_rows(const Scope& before, const Scope& scope, Emitter& out);
  // Instead of it, in padding: the rows below have no entries.
  void skip_rows(const Scope& before, const Scope& scope, Emitter& out);

  // The position in the result's level `last_level` that the scope stands at.
  loop::Expr position(const Scope& scope, int last_level) const;
  // Whether the loop runs over a full level of the result that has levels to be assembled below it.
  bool must_visit_all(const nest::Forall& loop, const Scope& scope) const;
  // The variables that run over the insides of the result's blocks.
  std::set<std::string> remainders() const;

  // While counting: whether it is enough to know how many entries there are.
  bool counts_alone() const {
    return kernel_.phase == Phase::Count && innermost_level().counts_entries();
  }
  // Then: whether a loop that leads from one scope to the other completes an entry; notes so many.
  bool completes_entry(const Scope& before, const Scope& scope) const;
  void count(const loop::Expr& entries, Emitter& out);

 private:
  const std::vector<std::unique_ptr<LevelCode>>& result_levels() const {
    return kernel_.tensors.at(kernel_.result).levels;
  }
  // The first level of a group of the result; of the innermost one.
  const LevelCode& group_level(size_t group) const;
  const LevelCode& innermost_level() const { return group_level(groups_.size() - 1); }
  bool is_known(int result_level, const Scope& scope) const;
  // Where a chunk has several members, one of them alone stores what all have found.
  loop::Expr of_one_member(const loop::Expr& condition) const;
  void add_for_one_member(Emitter& statements, Emitter& out) const;
  loop::Expr level_coordinate(int result_level, const Scope& scope) const;
  bool completes(int first_level, int last_level, const Scope& before, const Scope& scope) const;
  // Whether the loop completes a full level right above the group.
  bool completes_row(size_t group, const Scope& before, const Scope& scope) const;
  void begin_row(int group, const loop::Expr& parent, Scope& scope, Emitter& out);
  void finish_row(int group, const loop::Expr& parent, const Scope& scope, Emitter& out);
  void append(int group, const Scope& scope, Emitter& out, const Body& body);

  KernelContext& kernel_;
  Touches& touches_;
  std::vector<ResultGroup> groups_;
  std::vector<loop::Expr> counters_;  // of entries in each group, mutable
  loop::Expr widest_;  // the most entries that a row has had, mutable; null where nobody asks
};

}  // namespace tulle::lower
