// Counting through every coordinate, with operands that store coordinates walked along.
#include <algorithm>

#include "lower/kernel_lowering.h"
#include "lower/walker.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

loop::LoopKind kind_of(const nest::LoopTag& tag) {
  switch (tag.kind) {
    case nest::LoopTag::Kind::Vector:
      return loop::LoopKind::Vector;
    case nest::LoopTag::Kind::Unrolled:
      return loop::LoopKind::Unrolled;
    case nest::LoopTag::Kind::Block:
      return loop::LoopKind::Block;
    case nest::LoopTag::Kind::Warp:
      return loop::LoopKind::Warp;
    case nest::LoopTag::Kind::Lane:
      return loop::LoopKind::Lane;
    case nest::LoopTag::Kind::Thread:
      return loop::LoopKind::Thread;
    default:
      return loop::LoopKind::Serial;
  }
}

Walker KernelLowering::start_walker(int id, const Scope& scope, const Range& coordinates,
                                    Emitter& out) {
  const Cursor& cursor = scope.cursors.at(id);
  const LevelCode& level = level_code(cursor);
  TULLE_CHECK(level.is_ordered(), "an unordered level of ", cursor.access->tensor, " in a merge");
  level.prepare(out);
  const Positions all = run_of(cursor, scope, out);
  const Expr begin =
      coordinates.begin ? emit_lower_bound(out, level, all, coordinates.begin) : all.begin;
  const Expr end = coordinates.end ? emit_lower_bound(out, level, all, coordinates.end) : all.end;
  return {id, &level, out.declare(cursor.access->tensor + "_at", begin), {begin, end, all.base}};
}

void KernelLowering::dense_loop(const nest::Forall& loop, const AccessSet& iterating,
                                const Scope& scope, Emitter& out) {
  std::set<std::string> padded;
  if (assembly_.must_visit_all(loop, scope))
    padded = assembly_.remainders();  // levels below hang from padding too
  Range range{IntConst::make(0), coordinates_.bound(loop.var, scope, padded)};
  TULLE_CHECK(nest_.variable(loop.var).origin != nest::Variable::Origin::Difference,
              "the loop over ", loop.var, " visits stored differences");
  // A block has so many threads, whatever is left for them.
  if (loop.tag.is_within_block() || scope.visits_padding) range.end = coordinates_.extent(loop.var);
  if (is_cut(loop)) {
    visits_extent_ = true;
    range = chunk_of_rows(loop, scope, range.end, out);
  }
  const bool is_bounded = bound_by_difference(loop, scope, range, out);
  const bool is_shared = loop.tag.kind == nest::LoopTag::Kind::Member && frame_->members() > 1;
  if (is_shared) range.begin = first_of_member(loop.var);

  std::vector<Walker> walkers;
  for (const int id : iterating) {
    const Expr first = is_cut(loop) || is_bounded ? range.begin : Expr();
    walkers.push_back(start_walker(id, scope, {first, {}}, out));
  }
  const std::string variable = names_.fresh(loop.var);
  const Expr coordinate = loop::Var::make(variable);
  const Scope inner = inside(loop, variable, scope);
  const std::vector<Ahead> ahead =
      iterating.empty() ? ahead_.begin(loop, scope, out) : std::vector<Ahead>();
  Emitter body = out.nested();
  look_for(coordinate, walkers, body);
  dense_body(loop, coordinate, iterating, walkers, inner, body);
  step_past(walkers, body);
  if (loop.tag.is_within_block() && iterating.empty()) {
    out.add(bound_loop(loop, variable, range.end, body.take(), scope, inner));
    return;
  }
  if (loop.tag.kind == nest::LoopTag::Kind::Block && !shared_.allocations().empty()) {
    Emitter block = out.nested();
    for (const auto& [name, allocation] : shared_.allocations()) block.add(allocation);
    block.add(body.take());
    body.add(block.take());
  }
  const Counter counter{
      loop.var,
      variable,
      range.begin,
      range.end,
      1,
      [&](const nest::Forall& copy, const Expr& at, Emitter& inside, const Body& instead) {
        enter(copy, at, {}, {}, producing(inner), inside, instead);
      }};
  if (!ahead.empty()) body.add(ahead_.around(ahead, counter, body.take(), out));
  // Only constant bounds can be unrolled whole; those of a chunk or of the last block are not.
  const bool whole = loop.tag.kind == nest::LoopTag::Kind::Unrolled && loop.tag.factor == 0;
  const bool constant = range.begin.as<IntConst>() && range.end.as<IntConst>();
  const bool plain = iterating.empty() && (constant || !whole);
  // Atomics of a CPU take one element after the other, from registers if they are written out.
  const bool one_by_one = scope.by_atomics && !is_bound();
  if (one_by_one && constant && loop.tag.kind == nest::LoopTag::Kind::Vector) {
    out.add(
        loop::For::make(variable, range.begin, range.end, body.take(), loop::LoopKind::Unrolled));
    return;
  }
  if (is_shared && !mutant("members-overlap")) {  // there is one for each member, at most
    Emitter own = out.nested();
    own.add(loop::Let::make(variable, range.begin));
    own.add(body.take());
    out.add(loop::If::make(range.begin < range.end, own.take()));
    return;
  }
  out.add(loop::For::make(variable, range.begin, range.end, body.take(),
                          plain ? kind_of(loop.tag) : loop::LoopKind::Serial,
                          plain ? loop.tag.factor : 0));
}

void KernelLowering::dense_body(const nest::Forall& loop, const Expr& coordinate,
                                const AccessSet& iterating, const std::vector<Walker>& walkers,
                                Scope inner, Emitter& body) {
  AccessSet none = inner.absent;
  none.insert(iterating.begin(), iterating.end());
  const bool may_be_empty = assembles() && nest_.known_extent(loop.var).value_or(0) == 0;
  inner.conditional = inner.conditional || may_be_empty || vanishes(loop.body, none);
  if (iterating.empty()) return enter(loop, coordinate, iterating, {}, inner, body);

  auto case_of = [&](const AccessSet& point) {
    Emitter branch = body.nested();
    enter(loop, coordinate, iterating, entries_of(point, walkers), inner, branch);
    return branch.take();
  };
  loop::Stmt chain = case_of({});
  std::vector<AccessSet> points = lattice_points(loop.body, iterating, inner.absent);
  std::reverse(points.begin(), points.end());
  for (const AccessSet& point : points) {
    chain = loop::If::make(all_here(point, walkers), case_of(point), chain);
  }
  body.add(chain);
}

}  // namespace tulle::lower
