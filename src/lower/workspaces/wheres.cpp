// Fills and reads workspaces.
#include "lower/workspaces/wheres.h"

#include <algorithm>
#include <set>

#include "lower/lattice.h"
#include "lower/result/assignments.h"
#include "nest/bound_loops.h"

namespace tulle::lower {

using loop::Expr;

void Wheres::lower(const nest::Where& where, const KernelScope& scope, Emitter& out) {
  if (vanishes(where.producer, scope.absent)) return consume_nothing(where, scope, out);
  for (const std::string& name : where.workspaces) workspaces_.allocate(where, name, out);
  produce(where, scope, out);
  if (kernel_.phase != Phase::Compute || !pieces_.gathers(where)) return consume(where, scope, out);
  Emitter shared = out.nested(), whole = out.nested();
  pieces_.store(where, scope, shared);
  store(where.consumer, scope, whole);
  out.add(loop::If::make(scope.row.is_shared, shared.take(), whole.take()));
}

void Wheres::consume_nothing(const nest::Where& where, const KernelScope& scope, Emitter& out) {
  const bool is_exchanged = nest::has_bound_loops(where.consumer);  // lanes exchange their parts
  for (const std::string& name : where.workspaces) {
    const nest::Accumulate accumulate = nest::accumulation_of(where.producer, name);
    if (is_exchanged || !nest::starts_absent(accumulate)) workspaces_.allocate(where, name, out);
  }
  KernelScope after = scope;
  after.absent.merge(absent_reads(where));
  store(where.consumer, after, out);
}

void Wheres::produce(const nest::Where& where, const KernelScope& scope, Emitter& out) {
  if (kernel_.phase == Phase::Merge && pieces_.gathers(where))
    return pieces_.merge(where, scope, out);
  KernelScope filling = producing(scope);
  filling.storing.conditional = true;
  const Touches::Within nothing(touches_, nullptr);  // writing a workspace makes no entry
  statements_.lower(where.producer, filling, out);
}

void Wheres::consume(const nest::Where& where, const KernelScope& scope, Emitter& out) {
  AccessSet without = scope.absent;
  without.merge(absent_reads(where));
  Expr written;
  for (const std::string& name : where.workspaces) {
    const Expr& flag = kernel_.code(name).written;
    if (flag) written = written ? loop::Binary::make(loop::BinaryOp::Or, written, flag) : flag;
  }
  if (!written || !vanishes(where.consumer, without) || splits_tuple(where.consumer))
    return store(where.consumer, scope, out);
  // The entry only exists if the sum has terms.
  Emitter inside = out.nested();
  KernelScope after = scope;
  after.storing.conditional = true;
  store(where.consumer, after, inside);
  if (!inside.empty()) out.add(loop::If::make(written, inside.take()));
}

bool Wheres::adds_to_shared_row(const nest::Stmt& consumer, const KernelScope& scope) const {
  const std::vector<const nest::Assign*> all = nest::assigns(consumer);
  const bool stores = std::any_of(all.begin(), all.end(), [&](const nest::Assign* assign) {
    return assign->tensor == kernel_.result;
  });
  return scope.row.is_shared && stores && adds_up_rows(kernel_);
}

void Wheres::store(const nest::Stmt& consumer, const KernelScope& scope, Emitter& out) {
  const bool adds_up = adds_to_shared_row(consumer, scope);
  if (adds_up && kernel_.request.shares_result && !nest::combines_within(consumer, kernel_.nest)) {
    // Other chunks add to the row too. A chunk without entries of it has nothing to store.
    const Positions& entries = scope.entries.of_chunk.begin()->second;
    Emitter inside = out.nested();
    statements_.lower(consumer, scope, inside);
    if (!inside.empty()) out.add(loop::If::make(entries.begin < entries.end, inside.take()));
    return;
  }
  if (!adds_up || scope.storing.by_atomics) return statements_.lower(consumer, scope, out);
  KernelScope alone = scope, shared = scope;
  alone.row.is_shared = {};
  shared.storing.by_atomics = true;
  Emitter yes = out.nested(), no = out.nested();
  statements_.lower(consumer, shared, yes);
  statements_.lower(consumer, alone, no);
  out.add(loop::If::make(scope.row.is_shared, yes.take(), no.take()));
}

bool Wheres::splits_tuple(const nest::Stmt& stmt) const {
  const nest::Nest& nest = kernel_.nest;
  const auto tuple_of = [&](const nest::Assign& assign) {
    const std::string& lead = nest.tensor(assign.tensor).lead;
    return lead.empty() ? assign.tensor : lead;
  };
  std::set<std::string> inside;
  for (const nest::Assign* assign : nest::assigns(stmt)) {
    if (is_in_tuple(nest, *assign)) inside.insert(tuple_of(*assign));
  }
  const auto all = nest::assigns(nest.root);
  return std::any_of(all.begin(), all.end(), [&](const nest::Assign* assign) {
    return inside.contains(tuple_of(*assign)) && !nest::find_assign(stmt, *assign);
  });
}

}  // namespace tulle::lower
