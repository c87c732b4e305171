// Loops over equally many entries of an operand, whatever rows they are of.
#include <algorithm>

#include "lower/kernel_lowering.h"
#include "nest/merged_rows.h"
#include "nest/outliving.h"

namespace tulle::lower {

using loop::Cast;
using loop::Expr;
using loop::IntConst;
using loop::Load;

namespace {

// Whether each statement stores what it computes, and adds nothing up in the result or beside it.
bool only_stores(const nest::Forall& loop, const KernelContext& kernel) {
  if (!nest::outliving_workspaces(kernel.nest, loop.body).empty()) return false;
  const std::vector<const nest::Assign*> all = nest::assigns(loop.body);
  return std::all_of(all.begin(), all.end(), [&](const nest::Assign* assign) {
    return assign->tensor != kernel.result || !assign->accumulate;
  });
}

}  // namespace

// Where a chunk is whole, its loads are of neighbours. Past the end of the operand the last entry
// is taken again where nothing but a store comes of it, which is left out: without a branch before,
// so that the loads of all are under way together.
void KernelLowering::entries_of_chunk(const nest::Forall& loop, const Scope& scope, Emitter& out) {
  const nest::Variable& variable = nest_.variable(loop.var);
  const StoredRows stored = stored_rows(variable);
  if (!lists_entries(variable.tensor))
    derive(derive_entry_rows(stored, is_bound() ? Backend::Gpu : backend_));
  const Expr begin = out.let("begin", chunk_around(variable, scope) * variable.factor);
  const bool only_stored = only_stores(loop, kernel_) && nest_.tensor(result_).onto.empty();
  if (!only_stored || loop.tag.kind != nest::LoopTag::Kind::Unrolled) {
    const Expr end = loop::minimum(begin + variable.factor, stored.entries);
    return entries_from(loop, stored, begin, end - begin, {}, scope, out);
  }
  const Expr count = IntConst::make(variable.factor);
  Emitter whole = out.nested(), part = out.nested();
  entries_from(loop, stored, begin, count, {}, scope, whole);
  entries_from(loop, stored, begin, count, stored.entries, scope, part);
  out.add(loop::If::make(begin + variable.factor <= stored.entries, whole.take(), part.take()));
}

bool KernelLowering::lists_entries(const std::string& tensor) const {
  return nest::lists_entries(nest_.tensor(tensor).type.format);
}

// What was gathered of the entries is used: nothing else leads to their coordinates.
void KernelLowering::enter_unread(const nest::Variable& variable, const StoredRows& stored,
                                  const nest::Forall& rows, const Expr& entry, const Scope& scope,
                                  Emitter& out) {
  const auto& levels = code(variable.tensor).levels;
  for (const auto& level : levels) level->prepare(out);
  const Positions here{entry, {}};
  const Expr row = out.let(
      variable.parent, lists_entries(variable.tensor)
                           ? levels[0]->coordinate(entry, here)
                           : Cast::make(DType::Int64, Load::make(entry_rows_of(stored), entry)));
  enter(rows, row, {}, {}, scope, out, [&](const Scope& in_row, Emitter& rest) {
    const Expr column = rest.let(variable.second, levels[1]->coordinate(entry, here));
    enter(*rows.body.as<nest::Forall>(), column, {}, {}, in_row, rest);
  });
}

// So many entries from `begin` on, or as many as there are before `end`, which may be null.
void KernelLowering::entries_from(const nest::Forall& loop, const StoredRows& stored,
                                  const Expr& begin, const Expr& count, const Expr& end,
                                  const Scope& scope, Emitter& out) {
  const nest::Variable& variable = nest_.variable(loop.var);
  const std::string name = names_.fresh(loop.var);
  const Expr wish = begin + loop::Var::make(name);
  Emitter body = out.nested();
  const Expr entry = body.let(variable.tensor + "_p", end ? loop::minimum(wish, end - 1) : wish);
  Scope inner = scope;
  inner.entries[variable.tensor] = entry;
  if (end) inner.stores_if = wish < end;
  inner.coordinates[loop.var] = loop::Var::make(name);
  for (const auto& [id, cursor] : scope.cursors) {
    if (cursor.access->tensor == variable.tensor)
      inner.conditional |= !visits_all_of_result(cursor);
  }
  const nest::Stmt rows_loop =
      nest::Forall::make(variable.parent, nest::Forall::make(variable.second, loop.body));
  if (!nest::reads(loop.body, variable.tensor)) {
    enter_unread(variable, stored, *rows_loop.as<nest::Forall>(), entry, inner, body);
  } else if (lists_entries(variable.tensor)) {
    AccessSet listed;
    std::map<int, Positions> here;
    for (const auto& [id, cursor] : scope.cursors) {
      if (cursor.access->tensor != variable.tensor) continue;
      listed.insert(id);
      here[id] = {entry, {}};
    }
    const LevelCode& rows = *code(variable.tensor).levels[0];
    rows.prepare(body);
    const Expr row = body.let(variable.parent, rows.coordinate(entry, here.begin()->second));
    enter(*rows_loop.as<nest::Forall>(), row, listed, here, inner, body);
  } else {
    const Expr row = body.let(variable.parent,
                              Cast::make(DType::Int64, Load::make(entry_rows_of(stored), entry)));
    enter(*rows_loop.as<nest::Forall>(), row, {}, {}, inner, body);
  }
  const bool unrolls = loop.tag.kind == nest::LoopTag::Kind::Unrolled;
  out.add(loop::For::make(name, IntConst::make(0), count, body.take(),
                          unrolls ? loop::LoopKind::Unrolled : loop::LoopKind::Serial,
                          unrolls ? loop.tag.factor : 0));
}

}  // namespace tulle::lower
