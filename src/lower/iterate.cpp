// Loops over a variable: which kind of loop it is, walking over one level, and entering the body.
#include "lower/kernel_lowering.h"
#include "lower/range.h"
#include "nest/bound_loops.h"
#include "nest/merged_rows.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

AccessSet KernelLowering::iterators(const nest::Forall& loop, const Scope& scope) const {
  AccessSet found;
  for (const expr::Access* access : live_accesses(loop.body, scope.absent)) {
    const Cursor& cursor = scope.cursors.at(access->id);
    const auto& levels = tensors_.at(access->tensor).levels;
    if (cursor.level >= static_cast<int>(levels.size())) continue;
    if (levels[static_cast<size_t>(cursor.level)]->is_full()) continue;
    if (coordinates_.is_level_variable(level(cursor).expr, access->indices, loop.var))
      found.insert(access->id);
  }
  // What is found by arithmetic need not be walked over where the others lead to all there is to
  // do; nor what would have to be gone through from its beginning for each of many short rows.
  const auto without = [&](const auto& is_found) {
    AccessSet walked, absent = scope.absent;
    for (const int id : found) {
      if (is_found(scope.cursors.at(id))) continue;
      walked.insert(id);
      absent.insert(id);
    }
    return !walked.empty() && vanishes(loop.body, absent) ? walked : AccessSet();
  };
  const auto by_arithmetic = [&](const Cursor& cursor) {
    return tensors_.at(cursor.access->tensor).levels[cursor.level]->finds_by_arithmetic();
  };
  const auto by_searching = [&](const Cursor& cursor) {
    return by_arithmetic(cursor) || (cursor.level == 0 && !scope.coordinates.empty() &&
                                     tensors_.at(cursor.access->tensor).levels[0]->is_ordered());
  };
  if (const AccessSet walked = without(by_searching); !walked.empty()) return walked;
  const AccessSet walked = without(by_arithmetic);
  return walked.empty() ? found : walked;
}

void KernelLowering::lower_forall(const nest::Forall& loop, const Scope& scope, Emitter& out) {
  if (nest::combines(loop, nest_)) return combine_parts(loop, scope, out);
  if (position_loop(loop, scope, out)) return;
  if (nest_.variable(loop.var).origin == nest::Variable::Origin::ChunkRow)
    return rows_of_chunk(loop, scope, out);
  if (nest_.variable(loop.var).origin == nest::Variable::Origin::Entry)
    return entries_of_chunk(loop, scope, out);
  if (&loop == nest::loop_over_merged_rows(nest_)) return rows_by_work(loop, scope, out);
  const AccessSet iterating = iterators(loop, scope);
  AccessSet absent = scope.absent;
  absent.insert(iterating.begin(), iterating.end());

  Scope inner = scope;
  if (touches_.is_asked() && !scope.touched && !vanishes(loop.body, scope.absent) &&
      only_full_levels_below(loop, {}, scope)) {
    // From here on nothing hangs on entries: this one exists if the loops run at all.
    touches_.touch_if(coordinates_.runs(nest::Stmt(nest::Forall::make(loop.var, loop.body))), scope,
                      out);
    if (phase_ == Phase::Count) return;
    inner.touched = true;
  }
  const bool visits_all = assembly_.must_visit_all(loop, scope) || !vanishes(loop.body, absent);
  if (visits_all) {
    dense_loop(loop, iterating, inner, out);
  } else if (iterating.size() == 1) {
    inner.conditional |= !visits_all_of_result(scope.cursors.at(*iterating.begin()));
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
  if (scope.producing || !assembly_.counts_alone()) return false;
  Scope bound = scope;
  bound.coordinates[loop.var] = loop::Var::make(loop.var);
  if (!assembly_.completes_entry(scope, bound)) return false;
  // Within a block there may be none: its end is cut off where the dimension ends.
  using Origin = nest::Variable::Origin;
  const nest::Variable& variable = nest_.variable(loop.var);
  const bool blocks =
      variable.origin == Origin::Outer && nest_.variable(variable.parent).origin == Origin::Source;
  if (variable.origin != Origin::Source && !blocks) return false;
  // The last block of one place in all of them: whether that is cut off is asked for each.
  if (blocks && coordinates_.coordinate(variable.parent, bound)) return false;
  const loop::Expr runs = coordinates_.runs(loop.body);
  const auto* certain = runs.as<IntConst>();
  if (!certain || certain->value == 0) return false;
  return only_full_levels_below(loop, iterating, scope);
}

bool KernelLowering::only_full_levels_below(const nest::Forall& loop, const AccessSet& entered,
                                            const Scope& scope) const {
  for (const nest::Assign* assign : nest::assigns(loop.body)) {
    if (assign->tensor != result_ && !has_blocks(assign->tensor)) return false;
  }
  for (const expr::Access* access : live_accesses(loop.body, scope.absent)) {
    const Cursor& cursor = scope.cursors.at(access->id);
    const auto& levels = tensors_.at(access->tensor).levels;
    const int below = cursor.level + (entered.contains(access->id) ? 1 : 0);
    for (size_t l = static_cast<size_t>(below); l < levels.size(); ++l) {
      if (!levels[l]->is_full()) return false;
    }
  }
  return true;
}

bool KernelLowering::bound_by_difference(const nest::Forall& loop, const Scope& scope, Range& range,
                                         Emitter& out) const {
  for (const auto& [name, v] : nest_.variables) {
    if (v.origin != nest::Variable::Origin::Difference || v.second != loop.var) continue;
    const Expr difference = coordinates_.coordinate(name, scope);
    if (!difference || coordinates_.coordinate(v.parent, scope)) continue;
    const Expr first = out.let("first", loop::maximum(range.begin, range.begin - difference));
    const Expr last = loop::minimum(range.end, coordinates_.extent(v.parent) - difference);
    range = {first, out.let("last", loop::maximum(first, last))};
    return true;
  }
  return false;
}

bool KernelLowering::visits_all_of_result(const Cursor& cursor) const {
  const std::string& shared = nest_.tensor(result_).shares_pattern_of;
  const auto& levels = tensors_.at(cursor.access->tensor).levels;
  const bool last = cursor.level + 1 == static_cast<int>(levels.size());
  // Of entries at the same coordinates the first gets their sum.
  return !assembles() && cursor.access->tensor == shared &&
         (!last || levels[static_cast<size_t>(cursor.level)]->is_unique());
}

Positions KernelLowering::run_of(const Cursor& cursor, const Scope& scope, Emitter& out) {
  const auto piece = scope.chunk_entries.find(cursor.access->tensor);
  if (piece != scope.chunk_entries.end() && cursor.level == 1) return piece->second;
  Expr above;
  if (is_bounded(level(cursor).kind)) {
    for (const Level& outer : nest_.tensor(cursor.access->tensor).type.format.levels()) {
      if (!outer.expr.is_difference() || outer.expr.second != level(cursor).expr.dimension)
        continue;
      above = coordinates_.level_coordinate(outer.expr, cursor.access->indices, scope);
    }
  }
  return level_code(cursor).positions(out, cursor.at, above);
}

void KernelLowering::single_loop(const nest::Forall& loop, int iterating, const Scope& scope,
                                 Emitter& out) {
  const Cursor& cursor = scope.cursors.at(iterating);
  const LevelCode& level = level_code(cursor);
  level.prepare(out);
  if (const auto entry = scope.entries.find(cursor.access->tensor); entry != scope.entries.end()) {
    const Positions here{level.child(entry->second), {}};
    const Expr coordinate = out.let(loop.var, level.coordinate(entry->second, here));
    return enter(loop, coordinate, {iterating}, {{iterating, here}}, scope, out);
  }
  Positions positions = run_of(cursor, scope, out);
  if (is_cut(loop)) {
    const Range range = chunk_of_positions(cursor, positions, out);
    positions = {range.begin, range.end, positions.base};
  }
  if (level.is_unique() && !level.has_holes() && only_counts_visits(loop, {iterating}, scope)) {
    assembly_.count(positions.end - positions.begin, out);
    return;
  }
  const std::string name = concat(cursor.access->tensor, "_p", cursor.level);
  Emitter body = out.nested();
  // Slots whose values lie apart are gone through one by one, and added up by whoever sorts them.
  const bool apart = nest_.tensor(cursor.access->tensor).type.format.repeats_above_full();
  if (level.is_unique() || apart) {
    const std::string variable = names_.fresh(name);
    const Expr at = loop::Var::make(variable);
    const std::vector<Ahead> ahead = ahead_.begin(loop, scope, out);
    const auto visit = [&](const nest::Forall& visited, const Expr& position, const Scope& around,
                           Emitter& inside, const Body& instead) {
      const Expr coordinate = inside.let(loop.var, level.coordinate(position, positions));
      Emitter entry = out.nested();
      enter(visited, coordinate, {iterating}, {{iterating, {level.child(position), {}}}}, around,
            entry, instead);
      if (level.has_holes()) {
        inside.add(loop::If::make(level.holds(position), entry.take()));
      } else {
        for (loop::Stmt& stmt : entry.take_statements()) inside.add(std::move(stmt));
      }
    };
    emit_prefetches(cursor, at, loop.var, scope, body);
    visit(loop, at, scope, body, {});
    const bool unrolls = loop.tag.kind == nest::LoopTag::Kind::Unrolled && loop.tag.factor > 1;
    const Counter counter{
        loop.var,
        variable,
        positions.begin,
        positions.end,
        1,
        [&](const nest::Forall& copy, const Expr& position, Emitter& inside, const Body& instead) {
          visit(copy, position, producing(scope), inside, instead);
        }};
    out.add(loop::For::make(variable, positions.begin, positions.end,
                            ahead_.around(ahead, counter, body.take(), out),
                            unrolls ? loop::LoopKind::Unrolled : loop::LoopKind::Serial,
                            unrolls ? loop.tag.factor : 0));
    return;
  }
  const Expr at = out.declare(name, positions.begin);
  const Expr first = body.snapshot("first", at);
  const Expr coordinate = body.let(loop.var, level.coordinate(first, positions));
  const Expr next = run_end(cursor, first, positions, coordinate, body);
  const Expr end = body.snapshot("segment_end", next);
  enter(loop, coordinate, {iterating}, {{iterating, {first, end}}}, scope, body);
  body.assign(at, end);
  out.add(loop::While::make(at < positions.end, body.take()));
}

void KernelLowering::enter(const nest::Forall& loop, const Expr& coordinate,
                           const AccessSet& iterating, const std::map<int, Positions>& present,
                           Scope scope, Emitter& out, const Body& body) {
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
  RangeConditions within;
  if (loop.tag.is_within_block() && !scope.visits_padding) {
    within.exists = thread_condition(kernel_, loop, before, scope);
  } else if (!scope.visits_padding) {
    within = range_conditions(
        kernel_, loop, !iterating.empty() || assembly_.must_visit_all(loop, before),
        assembles() ? assembly_.remainders() : std::set<std::string>(), before, scope);
  }
  const Body content = body ? body : [&](const Scope& s, Emitter& o) { lower(loop.body, s, o); };
  if (!within.exists) return enter_row(loop, within.in_range, before, scope, out, content);
  Emitter inside = out.nested();
  enter_row(loop, within.in_range, before, scope, inside, content);
  out.add(loop::If::make(within.exists, inside.take()));
}

void KernelLowering::enter_row(const nest::Forall& loop, const Expr& in_range, const Scope& before,
                               Scope scope, Emitter& out, const Body& body) {
  Emitter inside = out.nested();
  const Scope by_numbers = scope;
  enter_stored(scope, inside);
  const Expr exists = stored_row_condition(kernel_, by_numbers, scope);
  assembly_.begin_rows(before, scope, in_range ? out : inside);
  Emitter row = out.nested();
  settle(loop.body, scope, row, [&](const Scope& settled, Emitter& at) {
    build_result(loop.body, before, settled, at, body);
  });
  if (exists) {
    inside.add(loop::If::make(exists, row.take()));
  } else {
    for (loop::Stmt& stmt : row.take_statements()) inside.add(std::move(stmt));
  }
  if (!in_range) {
    assembly_.finish_rows(before, scope, inside);
    for (loop::Stmt& stmt : inside.take_statements()) out.add(std::move(stmt));
    return;
  }
  Emitter outside = out.nested();
  assembly_.skip_rows(before, scope, outside);
  out.add(loop::If::make(in_range, inside.take(), outside.empty() ? loop::Stmt() : outside.take()));
  assembly_.finish_rows(before, scope, out);
}

void KernelLowering::enter_stored(Scope& scope, Emitter& out) {
  for (const auto& [name, variable] : nest_.variables) {
    if (variable.origin != nest::Variable::Origin::Stored ||
        scope.coordinates.contains(variable.parent))
      continue;
    const Expr number = coordinates_.coordinate(name, scope);
    if (!number) continue;
    const LevelCode& level = *tensors_.at(variable.tensor).levels[0];
    const Expr at = out.let(variable.tensor + "_p", number);
    const Expr row = mutant("stored-row-unmapped") ? at : level.coordinate(at, {});
    scope.coordinates[variable.parent] = out.let(variable.parent, row);
    for (auto& [id, cursor] : scope.cursors) {
      if (cursor.access->tensor != variable.tensor) continue;
      scope.conditional |= !visits_all_of_result(cursor);
      cursor.at = {level.child(at), {}};
      cursor.level = 1;
    }
  }
}

void KernelLowering::settle(const nest::Stmt& stmt, Scope scope, Emitter& out, const Body& body) {
  for (const expr::Access* access : live_accesses(stmt, scope.absent)) {
    Cursor& cursor = scope.cursors.at(access->id);
    const auto& levels = tensors_[access->tensor].levels;
    while (cursor.level < static_cast<int>(levels.size())) {
      const Expr coordinate =
          coordinates_.level_coordinate(level(cursor).expr, access->indices, scope);
      if (!coordinate) break;
      const LevelCode& code = level_code(cursor);
      if (code.is_full()) {
        TULLE_CHECK(cursor.at.is_single(), "a dense level below a segment of ", access->tensor);
        cursor.at.begin = out.let(access->tensor + "_at", code.locate(cursor.at.begin, coordinate));
        ++cursor.level;
        continue;
      }
      // The coordinate was bound by another loop: look it up.
      const Positions run = run_of(cursor, scope, out);
      const auto [at, found] = code.find(out, run, coordinate);

      Scope absent = scope;
      absent.absent.insert(access->id);
      absent.conditional = true;
      Emitter yes = out.nested(), no = out.nested();
      cursor.at = {at, {}};
      if (!code.is_unique())
        cursor.at.end =
            yes.snapshot("segment_end", emit_segment_end(yes, code, at, run, coordinate));
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
