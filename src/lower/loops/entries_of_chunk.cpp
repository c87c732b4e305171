// Visits a fixed number of entries. In a full chunk, loads are contiguous and unconditional.
#include "lower/loops/entries_of_chunk.h"

#include <algorithm>

#include "lower/cursors.h"
#include "lower/loops/stored_rows.h"
#include "nest/merged_rows.h"
#include "nest/outliving.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

namespace {

// Whether every statement only stores and accumulates neither in the result nor in an outer
// workspace.
bool only_stores(const LoopSite& site) {
  const KernelContext& kernel = site.parts.kernel;
  if (!nest::outliving_workspaces(kernel.nest, site.loop.body).empty()) return false;
  const std::vector<const nest::Assign*> all = nest::assigns(site.loop.body);
  return kernel.nest.tensor(kernel.result).onto.empty() &&
         std::all_of(all.begin(), all.end(), [&](const nest::Assign* assign) {
           return assign->tensor != kernel.result || !assign->accumulate;
         });
}

// The loop over the entries of one chunk.
class Entries {
 public:
  explicit Entries(const LoopSite& site) : site_(site) {
    if (!lists_entries_) derive(kernel_.facts, derive_entry_rows(stored_, kernel_.options()));
  }

  void lower(Emitter& out) const {
    const Expr begin =
        out.let("begin", chunk_around(kernel_, variable_, site_.scope) * variable_.factor);
    const bool unrolls = site_.loop.tag.kind == nest::LoopTag::Kind::Unrolled;
    if (!unrolls || !only_stores(site_)) {
      const Expr end = loop::minimum(begin + variable_.factor, stored_.entries);
      return visit(begin, end - begin, {}, out);
    }
    // The last chunk repeats the operand's last entry and skips its store. Without branches, all
    // loads are in flight together.
    const Expr count = IntConst::make(variable_.factor);
    Emitter whole = out.nested(), part = out.nested();
    visit(begin, count, {}, whole);
    visit(begin, count, stored_.entries, part);
    out.add(loop::If::make(begin + variable_.factor <= stored_.entries, whole.take(), part.take()));
  }

 private:
  // Visits `count` entries starting at `begin`. Does not store those from `end` on. `end` may be
  // null.
  void visit(const Expr& begin, const Expr& count, const Expr& end, Emitter& out) const {
    const std::string name = kernel_.names.fresh(site_.loop.var);
    const Expr wish = begin + loop::Var::make(name);
    Emitter body = out.nested();
    const Expr entry = body.let(variable_.tensor + "_p", end ? loop::minimum(wish, end - 1) : wish);
    KernelScope inner = site_.scope;
    inner.entries.at_hand[variable_.tensor] = entry;
    if (end) inner.storing.condition = wish < end;
    inner.coordinates[site_.loop.var] = loop::Var::make(name);
    for (const auto& [id, cursor] : site_.scope.cursors) {
      if (cursor.access->tensor == variable_.tensor)
        inner.storing.conditional |= !visits_all_of_result(kernel_, cursor);
    }
    enter(entry, inner, body);
    const nest::LoopTag& tag = site_.loop.tag;
    const bool unrolls = tag.kind == nest::LoopTag::Kind::Unrolled;
    out.add(loop::For::make(name, IntConst::make(0), count, body.take(),
                            unrolls ? loop::ForKind::Unrolled : loop::ForKind::Serial,
                            unrolls ? tag.factor : 0));
  }

  void enter(const Expr& entry, const KernelScope& scope, Emitter& out) const {
    const nest::Stmt loops =
        nest::Forall::make(variable_.parent, nest::Forall::make(variable_.second, site_.loop.body));
    const auto& rows = *loops.as<nest::Forall>();
    if (!nest::reads(site_.loop.body, variable_.tensor)) {
      enter_unread(rows, entry, scope, out);
    } else if (lists_entries_) {
      enter_listed(rows, entry, scope, out);
    } else {
      site_.parts.entering.enter({rows, stored_row_of(entry, out)}, scope, out);
    }
  }

  // No access reads the operand, because workspaces already hold its values. So the coordinates of
  // the entry are read here.
  void enter_unread(const nest::Forall& rows, const Expr& entry, const KernelScope& scope,
                    Emitter& out) const {
    const auto& levels = kernel_.code(variable_.tensor).levels;
    for (const auto& level : levels) level->prepare(out);
    const Positions here{entry, {}};
    const Expr row = lists_entries_ ? out.let(variable_.parent, levels[0]->coordinate(entry, here))
                                    : stored_row_of(entry, out);
    const auto& columns = *rows.body.as<nest::Forall>();
    const auto enter_column = [&](const KernelScope& in_row, Emitter& rest) {
      const Expr column = rest.let(variable_.second, levels[1]->coordinate(entry, here));
      site_.parts.entering.enter({columns, column}, in_row, rest);
    };
    site_.parts.entering.enter({rows, row}, scope, out, enter_column);
  }

  void enter_listed(const nest::Forall& rows, const Expr& entry, const KernelScope& scope,
                    Emitter& out) const {
    const Positions here{entry, {}};
    const LevelCode& level = *kernel_.code(variable_.tensor).levels[0];
    level.prepare(out);
    Arrival arrival{rows, out.let(variable_.parent, level.coordinate(entry, here))};
    for (const auto& [id, cursor] : scope.cursors) {
      if (cursor.access->tensor != variable_.tensor) continue;
      arrival.walked.insert(id);
      arrival.present[id] = here;
    }
    site_.parts.entering.enter(arrival, scope, out);
  }

  Expr stored_row_of(const Expr& entry, Emitter& out) const {
    return out.let(variable_.parent, position_of(entry_rows_of(stored_), entry));
  }

  const LoopSite& site_;
  KernelContext& kernel_ = site_.parts.kernel;
  const nest::Variable& variable_ = site_.variable();
  const StoredRows stored_ = stored_rows(kernel_, variable_);
  const bool lists_entries_ =
      nest::lists_entries(kernel_.nest.tensor(variable_.tensor).type.format);
};

}  // namespace

bool EntriesOfChunk::applies(const LoopSite& site) const {
  return site.variable().origin == nest::Variable::Origin::Entry;
}

void EntriesOfChunk::lower(const LoopSite& site, Emitter& out) const { Entries(site).lower(out); }

}  // namespace tulle::lower
