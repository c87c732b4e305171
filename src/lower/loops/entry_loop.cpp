// Visits entries one by one.
#include "lower/loops/entry_loop.h"

#include "lower/loops/operand_walk.h"
#include "lower/loops/prefetch.h"
#include "support/check.h"

namespace tulle::lower {

using loop::Expr;

// If duplicates are not adjacent, each is visited separately, and the sort afterwards adds them up.
bool EntryLoop::applies(const LoopSite& site) const {
  if (site.walked.size() != 1) return false;
  const KernelContext& kernel = site.parts.kernel;
  const Cursor& cursor = walked_cursor(site);
  const Format& format = kernel.nest.tensor(cursor.access->tensor).type.format;
  return kernel.level_code(cursor).is_unique() || format.repeats_above_full();
}

void EntryLoop::lower(const LoopSite& site, Emitter& out) const {
  KernelContext& kernel = site.parts.kernel;
  CopiesAhead& copies_ahead = site.parts.ahead;
  const nest::LoopTag& tag = site.loop.tag;
  const Cursor& cursor = walked_cursor(site);
  const LevelCode& level = kernel.level_code(cursor);
  const KernelScope scope = scope_of_walk(site);
  const Positions positions = walked_positions(site, out);
  const std::string name = kernel.names.fresh(concat(cursor.access->tensor, "_p", cursor.level));
  const Expr at = loop::Var::make(name);
  const std::vector<Ahead> ahead = copies_ahead.begin(site.loop, scope, out);
  const auto visit = [&](const nest::Forall& visited, const Expr& position,
                         const KernelScope& around, Emitter& inside, const BodyLowering& instead) {
    const Expr coordinate = inside.let(site.loop.var, level.coordinate(position, positions));
    const Positions entry{level.child(position), {}};
    Emitter body = out.nested();
    site.parts.entering.enter({visited, coordinate, site.walked, {{*site.walked.begin(), entry}}},
                              around, body, instead);
    if (level.has_holes()) {
      inside.add(loop::If::make(level.holds(position), body.take()));
    } else {
      inside.append(body);
    }
  };
  Emitter body = out.nested();
  emit_prefetches(kernel, cursor, at, site.loop.var, scope, body);
  visit(site.loop, at, scope, body, {});
  const auto visit_ahead = [&](const nest::Forall& copy, const Expr& position, Emitter& inside,
                               const BodyLowering& instead) {
    visit(copy, position, producing(scope), inside, instead);
  };
  const Counter counter{site.loop.var, name, positions.begin, positions.end, 1, visit_ahead};
  const bool unrolls = tag.kind == nest::LoopTag::Kind::Unrolled && tag.factor > 1;
  out.add(loop::For::make(
      name, positions.begin, positions.end, copies_ahead.around(ahead, counter, body.take(), out),
      unrolls ? loop::ForKind::Unrolled : loop::ForKind::Serial, unrolls ? tag.factor : 0));
}

}  // namespace tulle::lower
