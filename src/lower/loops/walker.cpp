// Advances walkers.
#include "lower/loops/walker.h"

#include "lower/cursors.h"
#include "lower/levels/search.h"
#include "support/check.h"

namespace tulle::lower {

using loop::Expr;

Walker start_walker(const KernelContext& kernel, int id, const KernelScope& scope,
                    const LoopBounds& coordinates, Emitter& out) {
  const Cursor& cursor = scope.cursors.at(id);
  const LevelCode& level = kernel.level_code(cursor);
  TULLE_CHECK(level.is_ordered(), "an unordered level of ", cursor.access->tensor, " in a merge");
  level.prepare(out);
  const Positions all = run_of(kernel, cursor, scope, out);
  const Expr begin =
      coordinates.begin ? emit_lower_bound(out, level, all, coordinates.begin) : all.begin;
  const Expr end = coordinates.end ? emit_lower_bound(out, level, all, coordinates.end) : all.end;
  return {id, &level, out.declare(cursor.access->tensor + "_at", begin), {begin, end, all.base}};
}

Positions entry_of(const Walker& walker) {
  if (walker.level->is_unique()) return {walker.level->child(walker.at), {}};
  return {walker.at, walker.next};
}

std::map<int, Positions> entries_of(const AccessSet& point, const std::vector<Walker>& walkers) {
  std::map<int, Positions> entries;
  for (const Walker& walker : walkers) {
    if (point.contains(walker.id)) entries[walker.id] = entry_of(walker);
  }
  return entries;
}

std::map<int, Positions> possible_entries(const std::vector<Walker>& walkers, KernelScope& scope,
                                          Emitter& out) {
  std::map<int, Positions> entries;
  for (const Walker& walker : walkers) {
    scope.here[walker.id] = walker.here;
    scope.storing.conditional = true;
    const Positions found = entry_of(walker);
    const Expr begin = out.declare("at", loop::IntConst::make(0));
    Emitter inside = out.nested();
    inside.assign(begin, found.begin);
    out.add(loop::If::make(walker.here, inside.take()));
    entries[walker.id] = {begin, found.end};
  }
  return entries;
}

void look_for(const Expr& coordinate, std::vector<Walker>& walkers, Emitter& out) {
  for (Walker& walker : walkers) {
    walker.here = out.declare("here", loop::IntConst::make(0, loop::kBool));
    walker.reached = walker.here;
    Emitter look = out.nested();
    look.assign(walker.here, walker.level->coordinate(walker.at, walker.run) == coordinate);
    if (walker.level->has_holes()) {
      walker.reached = out.declare("reached", loop::IntConst::make(0, loop::kBool));
      look.assign(walker.reached, walker.here);
      look.assign(walker.here, loop::both(walker.here, walker.level->holds(walker.at)));
    }
    out.add(loop::If::make(walker.at < walker.run.end, look.take()));
    walker.next = out.declare("next", walker.at + 1);
    if (!walker.level->is_unique()) {
      Emitter segment = out.nested();
      segment.assign(walker.next,
                     emit_segment_end(segment, *walker.level, walker.at, walker.run, coordinate));
      out.add(loop::If::make(walker.here, segment.take()));
    }
  }
}

Expr all_here(const AccessSet& point, const std::vector<Walker>& walkers) {
  Expr condition = loop::IntConst::make(1, loop::kBool);
  for (const Walker& walker : walkers) {
    if (point.contains(walker.id)) condition = loop::both(condition, walker.here);
  }
  return condition;
}

void step_past(const std::vector<Walker>& walkers, Emitter& out) {
  for (const Walker& walker : walkers) {
    out.assign(walker.at, loop::Select::make(walker.reached, walker.next, walker.at));
  }
}

}  // namespace tulle::lower
