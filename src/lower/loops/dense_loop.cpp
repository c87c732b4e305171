// Counts through coordinates.
#include "lower/loops/dense_loop.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lower/loops/bound_for.h"
#include "lower/presence.h"
#include "support/check.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

bool DenseLoop::applies(const LoopSite& site) const { return site.visits_all(); }

namespace {

void count_through(const LoopSite& site, Emitter& out) {
  const VisitedRange range = visited_range(site, out);
  out.add(counting_loop(site, lower_counted(site, range, out)));
}

}  // namespace

void DenseLoop::lower(const LoopSite& site, Emitter& out) const {
  if (!site.scope.here.empty() &&
      !site.parts.assembly.levels().must_visit_all(site.loop, site.scope)) {
    // Operands may have no entries here.
    const Expr active = Presence(site.parts.kernel, site.scope, out).of(site.loop.body);
    if (!active.as<IntConst>()) {
      Emitter inside = out.nested();
      count_through(site, inside);
      out.add(loop::If::make(active, inside.take()));
      return;
    }
  }
  count_through(site, out);
}

namespace {

// Limits the bounds to the coordinates at which the bound difference is inside the tensor. Returns
// whether a difference is bound.
bool bound_by_difference(const LoopSite& site, LoopBounds& bounds, Emitter& out) {
  const KernelContext& kernel = site.parts.kernel;
  const BoundCoordinates& bound = site.scope.coordinates;
  for (const auto& [name, v] : kernel.nest.variables) {
    if (v.origin != nest::Variable::Origin::Difference || v.second != site.loop.var) continue;
    const Expr difference = kernel.coordinates.coordinate(name, bound);
    if (!difference || kernel.coordinates.coordinate(v.parent, bound)) continue;
    const Expr first = out.let("first", loop::maximum(bounds.begin, bounds.begin - difference));
    const Expr last = loop::minimum(bounds.end, kernel.coordinates.extent(v.parent) - difference);
    bounds = {first, out.let("last", loop::maximum(first, last))};
    return true;
  }
  return false;
}

}  // namespace

VisitedRange visited_range(const LoopSite& site, Emitter& out) {
  KernelContext& kernel = site.parts.kernel;
  const nest::Forall& loop = site.loop;
  const ResultLevels& result = site.parts.assembly.levels();
  TULLE_CHECK(site.variable().origin != nest::Variable::Origin::Difference, "the loop over ",
              loop.var, " visits stored differences");
  std::set<std::string> padded;
  if (result.must_visit_all(loop, site.scope))
    padded = result.remainders();  // padding has levels below it too
  // A block has a fixed number of threads, and each runs an iteration even without a coordinate.
  const bool is_whole = loop.tag.is_within_block() || site.scope.thread.visits_padding;
  const Expr end = is_whole ? kernel.coordinates.extent(loop.var)
                            : kernel.coordinates.loop_end(loop.var, site.scope.coordinates, padded);
  VisitedRange range{{IntConst::make(0), end}};
  if (site.parts.chunks.is_cut(loop)) {
    kernel.facts.visits_extent = range.begins_inside = true;
    range.bounds = site.parts.chunks.of_rows(loop, site.scope, end, out);
  }
  range.begins_inside |= bound_by_difference(site, range.bounds, out);
  return range;
}

namespace {

// Allocates the shared memory of copies at the start of the loop over blocks.
void allocate_copies(const LoopSite& site, Emitter& body) {
  const auto& allocations = site.parts.copies.allocations();
  if (site.loop.tag.kind != nest::LoopTag::Kind::Block || allocations.empty()) return;
  Emitter block = body.nested();
  for (const auto& [name, allocation] : allocations) block.add(allocation);
  block.add(body.take());
  body.add(block.take());
}

}  // namespace

CountedBody lower_counted(const LoopSite& site, const VisitedRange& range, Emitter& out) {
  KernelContext& kernel = site.parts.kernel;
  CopiesAhead& copies_ahead = site.parts.ahead;
  const LoopBounds& bounds = range.bounds;
  std::vector<Walker> walkers;
  for (const int id : site.walked) {
    const Expr first = range.begins_inside ? bounds.begin : Expr();
    walkers.push_back(start_walker(kernel, id, site.scope, {first, {}}, out));
  }
  const std::string name = kernel.names.fresh(site.loop.var);
  const Expr coordinate = loop::Var::make(name);
  KernelScope inner = site.scope;
  inner.thread = BoundFor(kernel, site.loop, name, site.scope.thread).inside;
  const std::vector<Ahead> ahead =
      site.walked.empty() ? copies_ahead.begin(site.loop, site.scope, out) : std::vector<Ahead>();
  Emitter body = out.nested();
  look_for(coordinate, walkers, body);
  visit_coordinate(site, coordinate, walkers, inner, body);
  step_past(walkers, body);
  allocate_copies(site, body);
  if (!ahead.empty()) {
    const auto visit = [&](const nest::Forall& copy, const Expr& at, Emitter& inside,
                           const BodyLowering& instead) {
      site.parts.entering.enter({copy, at}, producing(inner), inside, instead);
    };
    const Counter counter{site.loop.var, name, bounds.begin, bounds.end, 1, visit};
    body.add(copies_ahead.around(ahead, counter, body.take(), out));
  }
  return {name, bounds, body.take()};
}

loop::Stmt counting_loop(const LoopSite& site, CountedBody counted) {
  const nest::LoopTag& tag = site.loop.tag;
  const auto& [begin, end] = counted.bounds;
  const auto make = [&](loop::ForKind kind, int factor) {
    return loop::For::make(counted.counter, begin, end, std::move(counted.body), kind, factor);
  };
  const bool is_constant = begin.as<IntConst>() && end.as<IntConst>();
  // A CPU adds the elements of a vector one by one by atomics. Unrolling keeps them in registers.
  const bool one_by_one = site.scope.storing.by_atomics && !site.parts.kernel.is_bound();
  if (one_by_one && is_constant && tag.kind == nest::LoopTag::Kind::Vector)
    return make(loop::ForKind::Unrolled, 0);
  // A loop can only be unrolled fully if its bounds are constant. Those of a chunk or of the last
  // block are not.
  const bool whole = tag.kind == nest::LoopTag::Kind::Unrolled && tag.factor == 0;
  const bool is_plain = site.walked.empty() && (is_constant || !whole);
  return is_plain ? make(kind_of(tag), tag.factor) : make(loop::ForKind::Serial, 0);
}

void visit_coordinate(const LoopSite& site, const Expr& coordinate,
                      const std::vector<Walker>& walkers, KernelScope scope, Emitter& out) {
  const nest::Forall& loop = site.loop;
  const KernelContext& kernel = site.parts.kernel;
  AccessSet walked, none = scope.absent;
  for (const Walker& walker : walkers) walked.insert(walker.id);
  none.insert(walked.begin(), walked.end());
  const bool may_be_empty =
      kernel.assembles() && kernel.nest.known_extent(loop.var).value_or(0) == 0;
  scope.storing.conditional =
      scope.storing.conditional || may_be_empty || vanishes(loop.body, none);
  if (walked.empty()) return site.parts.entering.enter({loop, coordinate}, scope, out);

  if (kernel.has_one_body()) {
    const std::map<int, Positions> entries = possible_entries(walkers, scope, out);
    return site.parts.entering.run_if_active(
        loop.body, scope, out, [&](const KernelScope& inner, Emitter& inside) {
          site.parts.entering.enter({loop, coordinate, walked, entries}, inner, inside);
        });
  }
  const auto case_of = [&](const AccessSet& point) {
    Emitter branch = out.nested();
    site.parts.entering.enter({loop, coordinate, walked, entries_of(point, walkers)}, scope,
                              branch);
    return branch.take();
  };
  loop::Stmt chain = case_of({});
  std::vector<AccessSet> points = lattice_points(loop.body, walked, scope.absent);
  std::reverse(points.begin(), points.end());
  for (const AccessSet& point : points)
    chain = loop::If::make(all_here(point, walkers), case_of(point), chain);
  out.add(chain);
}

}  // namespace tulle::lower
