// Cuts the entries of a row into pieces.
#include "lower/loops/pieces_of_row.h"

#include <algorithm>

#include "lower/cursors.h"
#include "lower/loops/bound_for.h"
#include "support/check.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;
using nest::Variable;

nest::Stmt entries_walk(const LoopSite& site) {
  return nest::Forall::make(site.variable().parent, site.loop.body);
}

namespace {

// Whether the loop runs over numbers of entries whose coordinates no outer loop has bound.
bool is_over_positions(const LoopSite& site) {
  const Variable& variable = site.variable();
  return variable.is_position() &&
         !site.parts.kernel.coordinates.coordinate(variable.parent, site.scope.coordinates);
}

AccessSet walked_entries(const LoopSite& site) {
  const nest::Stmt walk = entries_walk(site);
  return walked_accesses(site.parts.kernel, *walk.as<nest::Forall>(), site.scope);
}

}  // namespace

bool numbers_entries(const LoopSite& site) {
  return is_over_positions(site) && !walked_entries(site).empty();
}

int numbered_access(const LoopSite& site) {
  const AccessSet walked = walked_entries(site);
  TULLE_CHECK(walked.size() == 1, "one operand whose entries are counted along ",
              site.variable().parent);
  return *walked.begin();
}

// The same numbers may belong to another operand's loops.
bool NoPieces::applies(const LoopSite& site) const {
  if (!is_over_positions(site) || !walked_entries(site).empty()) return false;
  const std::vector<const nest::Assign*> all = nest::assigns(site.loop.body);
  return std::any_of(all.begin(), all.end(), [&](const nest::Assign* assign) {
    const auto accesses = expr::accesses(assign->value);
    return std::any_of(accesses.begin(), accesses.end(), [&](const expr::Access* access) {
      return access->tensor == site.variable().tensor && site.scope.absent.contains(access->id);
    });
  });
}

void NoPieces::lower(const LoopSite& site, Emitter&) const {
  site.parts.kernel.facts.needs_zeros = true;
}

bool PiecesOfRow::applies(const LoopSite& site) const { return numbers_entries(site); }

void PiecesOfRow::lower(const LoopSite& site, Emitter& out) const {
  KernelContext& kernel = site.parts.kernel;
  const Variable& variable = site.variable();
  const Cursor& cursor = site.scope.cursors.at(numbered_access(site));
  const BoundFor bound(kernel, site.loop, kernel.names.fresh(site.loop.var), site.scope.thread);
  KernelScope inner = site.scope;
  inner.thread = bound.inside;
  inner.storing.conditional |= !visits_all_of_result(kernel, cursor);
  kernel.level_code(cursor).prepare(out);
  const Positions row = run_of(kernel, cursor, site.scope, out);
  const Expr count = variable.origin == Variable::Origin::InnerPosition
                         ? IntConst::make(variable.factor)
                         : loop::ceil_divide(row.end - row.begin, variable.factor);
  inner.entries.of_row[variable.parent] = row;
  inner.coordinates[site.loop.var] = loop::Var::make(bound.name);
  Emitter body = out.nested();
  site.parts.statements.lower(site.loop.body, inner, body);
  out.add(site.loop.tag.is_bound()
              ? bound.over(kernel, count, body.take())
              : loop::For::make(bound.name, IntConst::make(0), count, body.take()));
}

}  // namespace tulle::lower
