// Merging: several levels of stored coordinates are walked over together, in a loop for each point
// of the lattice or in one loop for all of them.
#include <algorithm>
#include <limits>

#include "expr/absence.h"
#include "lower/kernel_lowering.h"
#include "lower/walker.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

namespace {

// Whether the expression adds up these accesses (negated or scaled at most) and zeros, so that an
// absent one may as well be zero.
bool is_plain_sum(const expr::Expr& expr, const AccessSet& terms) {
  if (expr.as<expr::Literal>()) return expr::is_zero(expr);
  if (const auto* access = expr.as<expr::Access>()) return terms.contains(access->id);
  if (const auto* unary = expr.as<expr::Unary>()) {
    return unary->function == expr::ElementFunction::Neg && is_plain_sum(unary->value, terms);
  }
  const auto* binary = expr.as<expr::Binary>();
  if (!binary) return false;
  if (binary->op == expr::BinaryOp::Mul) {
    return (binary->a.as<expr::Literal>() && is_plain_sum(binary->b, terms)) ||
           (binary->b.as<expr::Literal>() && is_plain_sum(binary->a, terms));
  }
  const bool adds = binary->op == expr::BinaryOp::Add || binary->op == expr::BinaryOp::Sub;
  return adds && is_plain_sum(binary->a, terms) && is_plain_sum(binary->b, terms);
}

bool includes(const AccessSet& all, const AccessSet& part) {
  return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

// Whether the walkers of the point all have something left.
Expr all_go_on(const AccessSet& point, const std::vector<Walker>& walkers) {
  Expr more = IntConst::make(1, loop::kBool);
  for (const Walker& walker : walkers) {
    if (point.contains(walker.id)) more = loop::both(more, walker.at < walker.run.end);
  }
  return more;
}

// The coordinate that the walker stands at, or one after all others if it has nothing left.
Expr coordinate_or_end(const Walker& walker, Emitter& out) {
  const Expr coordinate = out.declare("c", IntConst::make(std::numeric_limits<int64_t>::max()));
  Emitter inside = out.nested();
  inside.assign(coordinate, walker.level->coordinate(walker.at, walker.run));
  out.add(loop::If::make(walker.at < walker.run.end, inside.take()));
  return coordinate;
}

}  // namespace

bool KernelLowering::merges_by_selection(const nest::Forall& loop, const Merge& merge,
                                         const AccessSet& point, const Scope& scope) const {
  const auto* assign = loop.body.as<nest::Assign>();
  if (!assign || point.size() < 2 || scope.producing) return false;
  AccessSet absent = scope.absent;
  for (const int id : merge.iterating) {
    if (!point.contains(id)) absent.insert(id);
  }
  const expr::Expr value = expr::without(
      assign->value, [&](const expr::Access& access) { return absent.contains(access.id); });
  if (!is_plain_sum(value, point)) return false;
  // Every one of them alone makes an entry, and none has levels below this one.
  for (const int id : point) {
    const auto& points = merge.points;
    if (std::find(points.begin(), points.end(), AccessSet{id}) == points.end()) return false;
    const Cursor& cursor = scope.cursors.at(id);
    const auto& levels = tensors_.at(cursor.access->tensor).levels;
    const size_t at = static_cast<size_t>(cursor.level);
    if (at + 1 != levels.size() || !levels[at]->is_unique() || levels[at]->has_holes())
      return false;
  }
  return true;
}

void KernelLowering::merge_loops(const nest::Forall& loop, const AccessSet& iterating,
                                 const Scope& scope, Emitter& out) {
  std::vector<Walker> walkers;
  Range range;  // a chunk merges the coordinates of one
  if (is_cut(loop)) {
    range = chunk_of_rows(loop, scope, coordinates_.extent(loop.var), out);
  }
  if (is_cut(loop) && nest_.variable(loop.var).origin == nest::Variable::Origin::Difference) {
    const Expr first = coordinates_.first(loop.var);
    range = {range.begin + first, range.end + first};
  }
  for (const int id : iterating) walkers.push_back(start_walker(id, scope, range, out));
  Merge merge{iterating, lattice_points(loop.body, iterating, scope.absent),
              only_counts_visits(loop, iterating, scope)};
  // The assembler of a GPU takes most of the time until a first result, and loops for what is left
  // of some repeat all that stands in them.
  merge.in_one_loop = frame_->on_gpu() && !loop.body.as<nest::Assign>() &&
                      merge.points.size() > 1 && merge.points.front().size() == walkers.size();
  if (merge.in_one_loop) {
    merge_point(loop, merge, merge.points.front(), std::move(walkers), scope, out);
    return;
  }
  for (const AccessSet& point : merge.points) {
    std::vector<Walker> active;
    std::copy_if(walkers.begin(), walkers.end(), std::back_inserter(active),
                 [&](const Walker& walker) { return point.contains(walker.id); });
    if (merge.only_counts && active.size() == 1 && active[0].level->is_unique() &&
        !active[0].level->has_holes()) {
      // What is left of the last one is all new.
      assembly_.count(active[0].run.end - active[0].at, out);
      out.assign(active[0].at, active[0].run.end);
      continue;
    }
    merge_point(loop, merge, point, std::move(active), scope, out);
  }
}

void KernelLowering::merge_point(const nest::Forall& loop, const Merge& merge,
                                 const AccessSet& point, std::vector<Walker> active,
                                 const Scope& scope, Emitter& out) {
  Emitter body = out.nested();
  Expr more = all_go_on(point, active);
  for (const AccessSet& part : merge.points) {
    if (merge.in_one_loop && part != point && !mutant("merge-ends-early"))
      more = loop::Binary::make(loop::BinaryOp::Or, more, all_go_on(part, active));
  }
  Expr least;
  std::vector<Expr> coordinates;
  for (const Walker& walker : active) {
    coordinates.push_back(merge.in_one_loop
                              ? coordinate_or_end(walker, body)
                              : body.let("c", walker.level->coordinate(walker.at, walker.run)));
    least = least ? loop::minimum(least, coordinates.back()) : coordinates.back();
  }
  const Expr coordinate = body.let(loop.var, least);
  for (size_t w = 0; w < active.size(); ++w) {
    Walker& walker = active[w];
    walker.reached = active.size() == 1 ? IntConst::make(1, loop::kBool)
                                        : body.let("here", coordinates[w] == coordinate);
    walker.here = walker.reached;
    if (walker.level->has_holes()) {
      const Expr holds = walker.level->holds(walker.at);
      walker.here =
          body.let("holds", active.size() == 1 ? holds : loop::both(walker.reached, holds));
    }
    walker.next = walker.at + 1;
    if (!walker.level->is_unique()) {
      walker.next = body.declare("next", walker.next);
      Emitter segment = out.nested();
      segment.assign(walker.next,
                     emit_segment_end(segment, *walker.level, walker.at, walker.run, coordinate));
      body.add(loop::If::make(walker.here, segment.take()));
    }
  }
  if (merge.only_counts) {
    Expr visited = IntConst::make(0, loop::kBool);
    for (const AccessSet& part : merge.points) {
      if (includes(point, part))
        visited = loop::Binary::make(loop::BinaryOp::Or, visited, all_here(part, active));
    }
    const Expr entry = loop::Select::make(visited, IntConst::make(1), IntConst::make(0));
    assembly_.count(entry, body);
  } else if (merges_by_selection(loop, merge, point, scope)) {
    // A branch on who has an entry would be mispredicted half of the time: add zeros instead.
    Scope selecting = scope;
    for (const Walker& walker : active) selecting.masks[walker.id] = walker.here;
    enter(loop, coordinate, merge.iterating, entries_of(point, active), selecting, body);
  } else {
    loop::Stmt chain;
    for (auto part = merge.points.rbegin(); part != merge.points.rend(); ++part) {
      if (!includes(point, *part)) continue;
      Emitter branch = out.nested();
      enter(loop, coordinate, merge.iterating, entries_of(*part, active), scope, branch);
      chain = loop::If::make(all_here(*part, active), branch.take(), chain);
    }
    body.add(chain);
  }
  step_past(active, body);
  out.add(loop::While::make(more, body.take()));
}

}  // namespace tulle::lower
