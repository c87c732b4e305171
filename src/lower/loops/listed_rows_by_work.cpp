// With listed entries too, entry p of row i has number p + i in the merged sequence of rows and
// entries. So the entries and the row ends before a number add up to it.
#include "lower/loops/listed_rows_by_work.h"

#include "lower/cursors.h"
#include "lower/levels/search.h"
#include "lower/loops/dense_loop.h"
#include "lower/loops/merged_rows.h"
#include "nest/merged_rows.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;

bool ListedRowsByWork::applies(const LoopSite& site) const {
  const expr::Access* operand = operand_cut_by_work(site);
  return operand && nest::lists_entries(site.parts.kernel.nest.tensor(operand->tensor).type.format);
}

void ListedRowsByWork::lower(const LoopSite& site, Emitter& out) const {
  KernelContext& kernel = site.parts.kernel;
  KernelFrame& frame = site.parts.frame;
  kernel.facts.can_be_cut = kernel.facts.visits_extent = true;
  const expr::Access& operand = *operand_cut_by_work(site);
  const Cursor& cursor = site.scope.cursors.at(operand.id);
  const LevelCode& level = kernel.level_code(cursor);
  level.prepare(out);
  const Expr rows = kernel.coordinates.extent(site.loop.var);
  const Positions all = run_of(kernel, cursor, site.scope, out);
  const Expr known = frame.on_gpu() ? known_positions(kernel, operand.tensor, 0) : Expr();
  const Expr entries = known ? known : out.let("entries", all.end - all.begin);
  const Work work{rows + entries, known.get() != nullptr};
  const auto number_of = [&](const Expr& entry) {
    return level.coordinate(all.begin + entry, all) + entry;
  };
  const auto cut = [&](const Expr& end, Emitter& search) {
    const Expr number = search.let("number", frame.share(work, end));
    return emit_first_by_halves(search, entries, number_of, number);
  };
  const auto [before, until] = site.parts.chunks.ends("before", "until", cut, out);
  // Row `last` may begin in the chunk. The rows before it end in the chunk.
  const int64_t skipped = mutant("listed-row-lost") ? 1 : 0;
  const Expr first = out.let("first", frame.share(work, frame.chunk()) - before + skipped);
  const Expr last = out.let("last", frame.share(work, frame.chunk() + 1) - until);

  std::vector<Walker> walkers;
  for (const expr::Access* access : live_accesses(site.loop.body, site.scope.absent)) {
    if (access->tensor != operand.tensor) continue;
    const Positions piece{all.begin + before, out.let("p_end", all.begin + until), all.base};
    walkers.push_back(
        {access->id, &level, out.declare(operand.tensor + "_at", piece.begin), piece});
  }
  const std::string name = kernel.names.fresh(site.loop.var);
  const Expr row = loop::Var::make(name);
  Emitter body = out.nested();
  KernelScope inner = site.scope;
  inner.row.ends_here = row < last;
  look_for(row, walkers, body);
  visit_coordinate(site, row, walkers, inner, body);
  step_past(walkers, body);
  out.add(loop::For::make(name, first, loop::minimum(last + 1, rows), body.take()));
}

}  // namespace tulle::lower
