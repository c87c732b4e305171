// Loops over a variable: counting, walking over one level, or merging several.
#include <algorithm>

#include "lower/kernel_lowering.h"
#include "lower/walker.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

namespace {

loop::LoopKind kind_of(const nest::LoopTag& tag) {
  switch (tag.kind) {
    case nest::LoopTag::Kind::Vector:
      return loop::LoopKind::Vector;
    case nest::LoopTag::Kind::Unrolled:
      return loop::LoopKind::Unrolled;
    default:
      return loop::LoopKind::Serial;
  }
}

}  // namespace

AccessSet KernelLowering::iterators(const nest::Forall& loop, const Scope& scope) const {
  AccessSet found;
  for (const expr::Access* access : live_accesses(loop.body, scope.absent)) {
    const Cursor& cursor = scope.cursors.at(access->id);
    const auto& levels = tensors_.at(access->tensor).levels;
    if (cursor.level >= static_cast<int>(levels.size())) continue;
    if (levels[static_cast<size_t>(cursor.level)]->is_full()) continue;
    if (coordinates_.is_level_variable(level(cursor).expr, level_index(cursor), loop.var))
      found.insert(access->id);
  }
  return found;
}

void KernelLowering::lower_forall(const nest::Forall& loop, const Scope& scope, Emitter& out) {
  const AccessSet iterating = iterators(loop, scope);
  AccessSet absent = scope.absent;
  absent.insert(iterating.begin(), iterating.end());

  Scope inner = scope;
  if (touch_ && !scope.touched && !vanishes(loop.body, scope.absent) &&
      only_full_levels_below(loop, scope)) {
    // From here on nothing hangs on entries: this one exists if the loops run at all.
    touch_if(coordinates_.runs(nest::Stmt(nest::Forall::make(loop.var, loop.body))), scope, out);
    if (phase_ == Phase::Count) return;
    inner.touched = true;
  }
  const bool visits_all = must_visit_all(loop, scope) || !vanishes(loop.body, absent);
  if (visits_all) {
    dense_loop(loop, iterating, inner, out);
  } else if (iterating.size() == 1) {
    inner.conditional = true;
    single_loop(loop, *iterating.begin(), inner, out);
  } else if (!iterating.empty()) {
    inner.conditional = true;
    merge_loops(loop, iterating, inner, out);
  } else {
    needs_zeros_ = true;
  }
}

bool KernelLowering::only_counts_visits(const nest::Forall& loop, const AccessSet& iterating,
                                        const Scope& scope) const {
  if (phase_ != Phase::Count || scope.producing) return false;
  Scope bound = scope;
  bound.coordinates[loop.var] = loop::Var::make(loop.var);
  if (!completes(groups_.back().first, groups_.back().last, scope, bound)) return false;
  const nest::Variable& variable = nest_.variable(loop.var);
  if (variable.origin != nest::Variable::Origin::Source)
    return false;  // the end of a block is cut off
  const auto* certain = coordinates_.runs(loop.body).as<IntConst>();
  if (!certain || certain->value == 0) return false;
  for (const nest::Assign* assign : nest::assigns(loop.body)) {
    if (assign->tensor != result_) return false;
  }
  for (const expr::Access* access : live_accesses(loop.body, scope.absent)) {
    const Cursor& cursor = scope.cursors.at(access->id);
    const auto& levels = tensors_.at(access->tensor).levels;
    const size_t done =
        static_cast<size_t>(cursor.level) + (iterating.contains(access->id) ? 1 : 0);
    for (size_t l = done; l < levels.size(); ++l) {
      if (!levels[l]->is_full()) return false;
    }
  }
  return true;
}

bool KernelLowering::only_full_levels_below(const nest::Forall& loop, const Scope& scope) const {
  for (const nest::Assign* assign : nest::assigns(loop.body)) {
    if (assign->tensor != result_) return false;
  }
  for (const expr::Access* access : live_accesses(loop.body, scope.absent)) {
    const Cursor& cursor = scope.cursors.at(access->id);
    const auto& levels = tensors_.at(access->tensor).levels;
    for (size_t l = static_cast<size_t>(cursor.level); l < levels.size(); ++l) {
      if (!levels[l]->is_full()) return false;
    }
  }
  return true;
}

void KernelLowering::dense_loop(const nest::Forall& loop, const AccessSet& iterating,
                                const Scope& scope, Emitter& out) {
  std::set<std::string> padded;
  if (must_visit_all(loop, scope)) padded = remainders();  // levels below hang from padding too
  Range range{IntConst::make(0), coordinates_.bound(loop.var, scope, padded)};
  if (is_outermost(loop)) range = chunk_of_rows(loop, scope, range.end, out);

  std::vector<Walker> walkers;
  for (const int id : iterating) {
    const Cursor& cursor = scope.cursors.at(id);
    const LevelCode& level = level_code(cursor);
    level.prepare(out);
    const Positions positions = level.positions(out, cursor.at);
    TULLE_CHECK(level.is_ordered(), "an unordered level of ", cursor.access->tensor, " in a merge");
    const Expr begin =
        is_outermost(loop) ? emit_lower_bound(out, level, positions, range.begin) : positions.begin;
    walkers.push_back(
        {id, &level, out.declare(cursor.access->tensor + "_at", begin), positions.end, {}, {}});
  }

  const std::string variable = names_.fresh(loop.var);
  const Expr coordinate = loop::Var::make(variable);
  Emitter body = out.nested();
  for (Walker& walker : walkers) {
    walker.here = body.declare("here", IntConst::make(0, loop::kBool));
    Emitter look = out.nested();
    look.assign(walker.here, walker.level->coordinate(walker.at) == coordinate);
    body.add(loop::If::make(walker.at < walker.end, look.take()));
    walker.next = body.declare("next", walker.at + 1);
    if (!walker.level->is_unique()) {
      Emitter segment = out.nested();
      segment.assign(walker.next,
                     emit_segment_end(segment, *walker.level, walker.at, walker.end, coordinate));
      body.add(loop::If::make(walker.here, segment.take()));
    }
  }

  Scope inner = scope;
  AccessSet none = scope.absent;
  none.insert(iterating.begin(), iterating.end());
  const bool may_be_empty = assembles() && nest_.known_extent(loop.var).value_or(0) == 0;
  inner.conditional = inner.conditional || may_be_empty || vanishes(loop.body, none);
  auto case_of = [&](const AccessSet& point) {
    std::map<int, Positions> present;
    for (const Walker& walker : walkers) {
      if (point.contains(walker.id)) present[walker.id] = entry_of(walker);
    }
    Emitter branch = out.nested();
    enter(loop, coordinate, iterating, present, inner, branch);
    return branch.take();
  };
  if (iterating.empty()) {
    enter(loop, coordinate, iterating, {}, inner, body);
  } else {
    loop::Stmt chain = case_of({});
    std::vector<AccessSet> points = lattice_points(loop.body, iterating, scope.absent);
    std::reverse(points.begin(), points.end());
    for (const AccessSet& point : points) {
      chain = loop::If::make(all_here(point, walkers), case_of(point), chain);
    }
    body.add(chain);
    step_past(walkers, body);
  }
  // Only constant bounds can be unrolled whole; those of a chunk or of the last block are not.
  const bool whole = loop.tag.kind == nest::LoopTag::Kind::Unrolled && loop.tag.factor == 0;
  const bool constant = range.begin.as<IntConst>() && range.end.as<IntConst>();
  const bool plain = iterating.empty() && (constant || !whole);
  out.add(loop::For::make(variable, range.begin, range.end, body.take(),
                          plain ? kind_of(loop.tag) : loop::LoopKind::Serial,
                          plain ? loop.tag.factor : 0));
}

void KernelLowering::single_loop(const nest::Forall& loop, int iterating, const Scope& scope,
                                 Emitter& out) {
  const Cursor& cursor = scope.cursors.at(iterating);
  const LevelCode& level = level_code(cursor);
  level.prepare(out);
  Positions positions = level.positions(out, cursor.at);
  if (is_outermost(loop)) {
    const Range range = chunk_of_positions(level, positions, out);
    positions = {range.begin, range.end};
  }
  if (level.is_unique() && only_counts_visits(loop, {iterating}, scope)) {
    out.assign(counters_.back(), counters_.back() + (positions.end - positions.begin));
    return;
  }
  const std::string name = concat(cursor.access->tensor, "_p", cursor.level);
  Emitter body = out.nested();
  if (level.is_unique()) {
    const std::string variable = names_.fresh(name);
    const Expr at = loop::Var::make(variable);
    emit_prefetches(cursor, at, loop.var, scope, body);
    const Expr coordinate = body.let(loop.var, level.coordinate(at));
    enter(loop, coordinate, {iterating}, {{iterating, {level.child(at), {}}}}, scope, body);
    const bool unrolls = loop.tag.kind == nest::LoopTag::Kind::Unrolled && loop.tag.factor > 1;
    out.add(loop::For::make(variable, positions.begin, positions.end, body.take(),
                            unrolls ? loop::LoopKind::Unrolled : loop::LoopKind::Serial,
                            unrolls ? loop.tag.factor : 0));
    return;
  }
  const Expr at = out.declare(name, positions.begin);
  const Expr first = body.snapshot("first", at);
  const Expr coordinate = body.let(loop.var, level.coordinate(first));
  const Expr next = emit_segment_end(body, level, first, positions.end, coordinate);
  const Expr end = body.snapshot("segment_end", next);
  enter(loop, coordinate, {iterating}, {{iterating, {first, end}}}, scope, body);
  body.assign(at, end);
  out.add(loop::While::make(at < positions.end, body.take()));
}

void KernelLowering::enter(const nest::Forall& loop, const Expr& coordinate,
                           const AccessSet& iterating, const std::map<int, Positions>& present,
                           Scope scope, Emitter& out) {
  const Scope before = scope;
  scope.coordinates[loop.var] = coordinate;
  for (const int id : iterating) {
    const auto found = present.find(id);
    if (found == present.end()) {
      scope.absent.insert(id);
    } else {
      scope.cursors.at(id).at = found->second;
      ++scope.cursors.at(id).level;
    }
  }
  const Expr in_range =
      range_condition(loop, !iterating.empty() || must_visit_all(loop, before), before, scope);
  Emitter inside = out.nested();
  settle(loop.body, scope, inside, [&](const Scope& settled, Emitter& body) {
    build_result(before, settled, body,
                 [&](const Scope& s, Emitter& o) { lower(loop.body, s, o); });
  });
  if (in_range) {
    Emitter outside = out.nested();
    skip_rows(before, scope, outside);
    out.add(
        loop::If::make(in_range, inside.take(), outside.empty() ? loop::Stmt() : outside.take()));
  } else {
    for (loop::Stmt& stmt : inside.take_statements()) out.add(std::move(stmt));
  }
  finish_rows(before, scope, out);
}

Expr KernelLowering::range_condition(const nest::Forall& loop, bool visits_padding,
                                     const Scope& before, const Scope& scope) const {
  using Origin = nest::Variable::Origin;
  // Bounds reach through splits, not through what was fused.
  bool is_fused = false;
  for (std::string var = loop.var; !is_fused && nest_.variable(var).origin != Origin::Source;
       var = nest_.variable(var).parent) {
    is_fused = nest_.variable(var).origin == Origin::Fused;
  }
  if (mutant("block-unguarded")) return {};
  if ((!is_fused && !visits_padding) || nest_.variable(loop.var).origin == Origin::Source)
    return {};
  Expr condition;
  for (const std::string& source : nest_.sources(loop.var)) {
    const bool is_split =
        std::any_of(nest_.variables.begin(), nest_.variables.end(), [&](const auto& entry) {
          return entry.second.parent == source &&
                 entry.second.origin != nest::Variable::Origin::Fused;
        });
    const Expr coordinate = coordinates_.coordinate(source, scope);
    if (!is_split || !coordinate || coordinates_.coordinate(source, before)) continue;
    const Expr fits = coordinate < coordinates_.extent(source);
    condition = condition ? loop::both(condition, fits) : fits;
  }
  return condition;
}

void KernelLowering::settle(const nest::Stmt& stmt, Scope scope, Emitter& out, const Body& body) {
  for (const expr::Access* access : live_accesses(stmt, scope.absent)) {
    Cursor& cursor = scope.cursors.at(access->id);
    const auto& levels = tensors_[access->tensor].levels;
    while (cursor.level < static_cast<int>(levels.size())) {
      const Expr coordinate =
          coordinates_.level_coordinate(level(cursor).expr, level_index(cursor), scope);
      if (!coordinate) break;
      const LevelCode& code = level_code(cursor);
      if (code.is_full()) {
        TULLE_CHECK(cursor.at.is_single(), "a dense level below a segment of ", access->tensor);
        cursor.at.begin = out.let(access->tensor + "_at", code.locate(cursor.at.begin, coordinate));
        ++cursor.level;
        continue;
      }
      // The coordinate was bound by another loop: look it up.
      const Positions range = code.positions(out, cursor.at);
      const Expr at =
          out.snapshot(access->tensor + "_at", emit_lower_bound(out, code, range, coordinate));
      const Expr found = out.declare("found", IntConst::make(0, loop::kBool));
      Emitter look = out.nested();
      look.assign(found, code.coordinate(at) == coordinate);
      out.add(loop::If::make(at < range.end, look.take()));

      Scope absent = scope;
      absent.absent.insert(access->id);
      absent.conditional = true;
      Emitter yes = out.nested(), no = out.nested();
      cursor.at = {at, {}};
      if (!code.is_unique())
        cursor.at.end =
            yes.snapshot("segment_end", emit_segment_end(yes, code, at, range.end, coordinate));
      ++cursor.level;
      scope.conditional = true;
      settle(stmt, scope, yes, body);
      const bool needed = !vanishes(stmt, absent.absent) || assembles();
      if (needed) settle(stmt, absent, no, body);
      out.add(loop::If::make(found, yes.take(), no.empty() ? loop::Stmt() : no.take()));
      return;
    }
  }
  body(scope, out);
}

}  // namespace tulle::lower
