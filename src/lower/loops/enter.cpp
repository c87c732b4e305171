// Enters loop bodies and resolves levels.
#include "lower/loops/enter.h"

#include "lower/cursors.h"
#include "lower/levels/search.h"
#include "lower/presence.h"
#include "lower/workspaces/tracked_blocks.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

void Entering::enter(const Arrival& arrival, KernelScope scope, Emitter& out,
                     const BodyLowering& body) {
  const nest::Forall& loop = arrival.loop;
  const KernelScope before = scope;
  scope.coordinates[loop.var] = arrival.coordinate;
  for (const int id : arrival.walked) {
    const auto found = arrival.present.find(id);
    if (found == arrival.present.end()) {
      scope.absent.insert(id);
    } else {
      scope.cursors.at(id).at = found->second;
      ++scope.cursors.at(id).level;
    }
  }
  const RangeConditions within = conditions(arrival, before, scope);
  const BodyLowering content =
      body ? body : [&](const KernelScope& s, Emitter& o) { statements_.lower(loop.body, s, o); };
  if (!within.exists) return enter_row(loop, within.in_range, before, scope, out, content);
  Emitter inside = out.nested();
  enter_row(loop, within.in_range, before, scope, inside, content);
  out.add(loop::If::make(within.exists, inside.take()));
}

RangeConditions Entering::conditions(const Arrival& arrival, const KernelScope& before,
                                     const KernelScope& scope) const {
  if (scope.thread.visits_padding) return {};
  const nest::Forall& loop = arrival.loop;
  if (loop.tag.is_within_block()) return {thread_condition(kernel_, loop, before, scope), {}};
  const ResultLevels& result = assembly_.levels();
  const bool visits_padding = !arrival.walked.empty() || result.must_visit_all(loop, before);
  const std::set<std::string> padded =
      kernel_.assembles() ? result.remainders() : std::set<std::string>();
  return range_conditions(kernel_, loop, visits_padding, padded, before, scope);
}

void Entering::enter_row(const nest::Forall& loop, const Expr& in_range, const KernelScope& before,
                         KernelScope scope, Emitter& out, const BodyLowering& body) {
  Emitter inside = out.nested();
  const KernelScope by_numbers = scope;
  enter_stored(scope, inside);
  const Expr exists = stored_row_condition(kernel_, by_numbers, scope);
  assembly_.begin_rows(before, scope, in_range ? out : inside);
  Emitter row = out.nested();
  settle(loop.body, scope, row, [&](const KernelScope& settled, Emitter& at) {
    build_result(loop.body, before, settled, at, body);
  });
  if (exists) {
    inside.add(loop::If::make(exists, row.take()));
  } else {
    inside.append(row);
  }
  if (!in_range) {
    assembly_.finish_rows(before, scope, inside);
    out.append(inside);
    return;
  }
  Emitter outside = out.nested();
  assembly_.skip_rows(before, scope, outside);
  out.add(loop::If::make(in_range, inside.take(), outside.empty() ? loop::Stmt() : outside.take()));
  assembly_.finish_rows(before, scope, out);
}

void Entering::build_result(const nest::Stmt& stmt, const KernelScope& before,
                            const KernelScope& scope, Emitter& out, const BodyLowering& body) {
  if (!scope.storing.producing) return assembly_.build(before, scope, out, body);
  const nest::Assign* block = block_at(kernel_, stmt, before, scope);
  return block ? track_block(kernel_, touches_, *block, scope, out, body) : body(scope, out);
}

void Entering::enter_stored(KernelScope& scope, Emitter& out) const {
  for (const auto& [name, variable] : kernel_.nest.variables) {
    if (variable.origin != nest::Variable::Origin::Stored ||
        scope.coordinates.contains(variable.parent))
      continue;
    const Expr number = kernel_.coordinates.coordinate(name, scope.coordinates);
    if (!number) continue;
    const LevelCode& level = *kernel_.code(variable.tensor).levels[0];
    const Expr at = out.let(variable.tensor + "_p", number);
    const Expr row = mutant("stored-row-unmapped") ? at : level.coordinate(at, {});
    scope.coordinates[variable.parent] = out.let(variable.parent, row);
    for (auto& [id, cursor] : scope.cursors) {
      if (cursor.access->tensor != variable.tensor) continue;
      scope.storing.conditional |= !visits_all_of_result(kernel_, cursor);
      cursor.at = {level.child(at), {}};
      cursor.level = 1;
    }
  }
}

void Entering::settle(const nest::Stmt& stmt, KernelScope scope, Emitter& out,
                      const BodyLowering& body) {
  bool looks_up = false;
  for (const expr::Access* access : live_accesses(stmt, scope.absent)) {
    Cursor& cursor = scope.cursors.at(access->id);
    const auto& levels = kernel_.code(access->tensor).levels;
    while (cursor.level < static_cast<int>(levels.size())) {
      const Expr coordinate = kernel_.coordinates.level_coordinate(
          kernel_.level(cursor).expr, access->indices, scope.coordinates);
      if (!coordinate) break;
      const LevelCode& level = kernel_.level_code(cursor);
      if (!level.is_full() && kernel_.has_one_body()) {
        look_up_if_here(*access, coordinate, scope, out);
        looks_up = true;
        continue;
      }
      if (!level.is_full()) return look_up(stmt, *access, coordinate, std::move(scope), out, body);
      TULLE_CHECK(cursor.at.is_single(), "a dense level below a segment of ", access->tensor);
      cursor.at.begin = out.let(access->tensor + "_at", level.locate(cursor.at.begin, coordinate));
      ++cursor.level;
    }
  }
  if (!looks_up) return body(scope, out);
  run_if_active(stmt, scope, out, body);
}

void Entering::run_if_active(const nest::Stmt& stmt, const KernelScope& scope, Emitter& out,
                             const BodyLowering& body) const {
  // A result has rows without entries.
  const bool must_run = kernel_.assembles() && !scope.storing.producing;
  const Expr active = Presence(kernel_, scope, out).of(stmt);
  if (must_run || active.as<IntConst>()) return body(scope, out);
  Emitter inside = out.nested();
  body(scope, inside);
  out.add(loop::If::make(active, inside.take()));
}

void Entering::look_up(const nest::Stmt& stmt, const expr::Access& access, const Expr& coordinate,
                       KernelScope scope, Emitter& out, const BodyLowering& body) {
  Cursor& cursor = scope.cursors.at(access.id);
  const LevelCode& level = kernel_.level_code(cursor);
  const Positions run = run_of(kernel_, cursor, scope, out);
  const auto [at, found] = level.find(out, run, coordinate);

  KernelScope absent = scope;
  absent.absent.insert(access.id);
  absent.storing.conditional = true;
  Emitter yes = out.nested(), no = out.nested();
  cursor.at = {at, {}};
  if (!level.is_unique()) {
    cursor.at.end = yes.snapshot("segment_end", emit_segment_end(yes, level, at, run, coordinate));
  }
  ++cursor.level;
  scope.storing.conditional = true;
  settle(stmt, scope, yes, body);
  const bool needed = !vanishes(stmt, absent.absent) || kernel_.assembles();
  if (needed) settle(stmt, absent, no, body);
  out.add(loop::If::make(found, yes.take(), no.empty() ? loop::Stmt() : no.take()));
}

void Entering::look_up_if_here(const expr::Access& access, const Expr& coordinate,
                               KernelScope& scope, Emitter& out) const {
  Cursor& cursor = scope.cursors.at(access.id);
  const LevelCode& level = kernel_.level_code(cursor);
  const Positions run = run_of(kernel_, cursor, scope, out);
  const Expr at = out.declare(access.tensor + "_at", IntConst::make(0));
  const Expr here = out.declare("here", IntConst::make(0, loop::kBool));
  const Expr end = level.is_unique() ? Expr() : out.declare("segment_end", IntConst::make(0));
  Emitter inside = out.nested(), entry = out.nested();
  const auto [position, found] = level.find(inside, run, coordinate);
  entry.assign(here, IntConst::make(1, loop::kBool));
  entry.assign(at, position);
  if (end) entry.assign(end, emit_segment_end(entry, level, position, run, coordinate));
  inside.add(loop::If::make(found, entry.take()));
  // Arithmetic would find a position in a run without positions.
  out.add(loop::If::make(run.begin < run.end, inside.take()));
  cursor.at = {at, end};
  ++cursor.level;
  scope.here[access.id] = here;
  scope.storing.conditional = true;
}

}  // namespace tulle::lower
