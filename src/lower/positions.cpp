// Loops over the entries of a row by number: pieces of equally many, and the entries of a piece.
#include "lower/kernel_lowering.h"
#include "nest/bound_loops.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;
using nest::Variable;

namespace {

// Whether the statement reads the operand, which has no entry at this point.
bool is_absent_in(const nest::Stmt& stmt, const std::string& operand, const Scope& scope) {
  for (const nest::Assign* assign : nest::assigns(stmt)) {
    for (const expr::Access* access : expr::accesses(assign->value)) {
      if (access->tensor == operand && scope.absent.contains(access->id)) return true;
    }
  }
  return false;
}

}  // namespace

bool KernelLowering::position_loop(const nest::Forall& loop, const Scope& scope, Emitter& out) {
  const Variable& variable = nest_.variable(loop.var);
  if (!variable.is_position() || coordinates_.coordinate(variable.parent, scope)) return false;
  const nest::Stmt walk = nest::Forall::make(variable.parent, loop.body);
  const AccessSet walked = iterators(*walk.as<nest::Forall>(), scope);
  if (walked.empty()) {
    // Where the operand has no entry there are no pieces of them; others loop over the same number.
    const bool nothing = is_absent_in(loop.body, variable.tensor, scope);
    needs_zeros_ |= nothing;
    return nothing;
  }
  TULLE_CHECK(walked.size() == 1, "one operand whose entries are counted along ", variable.parent);
  const int id = *walked.begin();
  const std::string name = names_.fresh(loop.var);
  Scope inner = inside(loop, name, scope);
  inner.conditional |= !visits_all_of_result(scope.cursors.at(id));
  if (const auto row = scope.pieces.find(variable.parent); row != scope.pieces.end()) {
    for (const auto& [partner, other] : nest_.variables) {
      const auto found = scope.coordinates.find(partner);
      if (partner == loop.var || !other.is_position() || other.parent != variable.parent) continue;
      if (found == scope.coordinates.end()) continue;
      entry_loop(loop, name, id, row->second, found->second, scope, inner, out);
      return true;
    }
    internal_error("the pieces that the entries along ", variable.parent, " are cut into");
  }
  const LevelCode& level = level_code(scope.cursors.at(id));
  level.prepare(out);
  const Positions row = run_of(scope.cursors.at(id), scope, out);
  const Expr count = variable.origin == Variable::Origin::InnerPosition
                         ? IntConst::make(variable.factor)
                         : loop::ceil_divide(row.end - row.begin, variable.factor);
  inner.pieces[variable.parent] = row;
  inner.coordinates[loop.var] = loop::Var::make(name);
  Emitter body = out.nested();
  lower(loop.body, inner, body);
  if (loop.tag.is_bound()) {
    out.add(bound_loop(loop, name, count, body.take(), scope, inner));
  } else {
    out.add(loop::For::make(name, IntConst::make(0), count, body.take()));
  }
  return true;
}

void KernelLowering::entry_loop(const nest::Forall& loop, const std::string& counter, int id,
                                const Positions& row, const Expr& other, const Scope& around,
                                const Scope& scope, Emitter& out) {
  const Variable& variable = nest_.variable(loop.var);
  const LevelCode& level = level_code(scope.cursors.at(id));
  const bool counts_pieces = variable.origin == Variable::Origin::OuterPosition;
  const nest::Stmt walk = nest::Forall::make(variable.parent, loop.body);
  auto visit_in = [&](const nest::Forall& visited, const Expr& number, const Expr& at, Scope inner,
                      Emitter& body, const Body& instead) {
    inner.coordinates[loop.var] = number;
    const Expr coordinate = body.let(variable.parent, level.coordinate(at, row));
    enter(visited, coordinate, {id}, {{id, {level.child(at), {}}}}, std::move(inner), body,
          instead);
  };
  auto visit = [&](const Expr& number, const Expr& at, Emitter& body) {
    visit_in(*walk.as<nest::Forall>(), number, at, scope, body, {});
  };
  Emitter body = out.nested();
  if (loop.tag.is_bound()) {
    TULLE_CHECK(!counts_pieces, "a bound loop over pieces inside one over their entries");
    const Expr number = loop::Var::make(counter);
    const Expr at = body.let(variable.tensor + "_p", row.begin + other * variable.factor + number);
    Emitter entry = out.nested();
    visit(number, at, entry);
    if (mutant("piece-unguarded")) {
      for (loop::Stmt& stmt : entry.take_statements()) body.add(std::move(stmt));
    } else {
      body.add(loop::If::make(at < row.end, entry.take()));
    }
    out.add(bound_loop(loop, counter, IntConst::make(variable.factor), body.take(), around, scope));
    return;
  }
  const std::string name = names_.fresh(variable.tensor + "_p");
  const Expr at = loop::Var::make(name);
  const bool unrolls = loop.tag.kind == nest::LoopTag::Kind::Unrolled && loop.tag.factor > 1;
  const loop::LoopKind kind = unrolls ? loop::LoopKind::Unrolled : loop::LoopKind::Serial;
  const int copies = unrolls ? loop.tag.factor : 0;
  const std::vector<Ahead> ahead = ahead_.begin(loop, scope, out);
  const Expr first =
      out.let("first", row.begin + (counts_pieces ? other : other * variable.factor));
  const Expr last = counts_pieces ? row.end : loop::minimum(row.end, first + variable.factor);
  const int64_t step = counts_pieces ? variable.factor : 1;
  const auto number = [&](const Expr& position) {
    if (!counts_pieces) return position - first;
    return loop::Binary::make(loop::BinaryOp::Div, position - first,
                              IntConst::make(variable.factor));
  };
  visit(number(at), at, body);
  const Counter ahead_of{
      variable.parent,
      name,
      first,
      last,
      step,
      [&](const nest::Forall& copy, const Expr& position, Emitter& inside, const Body& instead) {
        visit_in(copy, number(position), position, producing(scope), inside, instead);
      }};
  out.add(loop::For::make(name, first, last, ahead_.around(ahead, ahead_of, body.take(), out), kind,
                          copies, step));
}

Scope KernelLowering::inside(const nest::Forall& loop, const std::string& name, Scope scope) {
  using Kind = nest::LoopTag::Kind;
  scope.in_warp |= loop.tag.kind == Kind::Warp;
  if (loop.tag.kind == Kind::Warp) scope.warp = loop::Var::make(name);
  if (loop.tag.kind == Kind::Lane) {
    scope.lanes = nest::lanes_inside(nest_, loop.var);
    if (!scope.lane) scope.lane = loop::Var::make(scope.lanes > 1 ? names_.fresh("lane") : name);
  }
  scope.on_one_thread |=
      (loop.tag.kind == Kind::Lane && scope.lanes == 1) || loop.tag.kind == Kind::Thread;
  return scope;
}

// Of lane number l in groups of g, l / g is the outer loop's iteration and l % g the inner one's.
loop::Stmt KernelLowering::bound_loop(const nest::Forall& loop, const std::string& name,
                                      const Expr& end, loop::Stmt body, const Scope& around,
                                      const Scope& inner) {
  const bool lanes = loop.tag.kind == nest::LoopTag::Kind::Lane;
  if (lanes && around.lane) {
    const Expr number =
        loop::Binary::make(loop::BinaryOp::Mod, around.lane, IntConst::make(around.lanes));
    return loop::Block::make({loop::Let::make(name, number), std::move(body)});
  }
  if (lanes && !around.in_warp) {
    // What warps have merged all of them have: one stores it.
    return loop::For::make(
        names_.fresh("warp"), IntConst::make(0), IntConst::make(1),
        loop::For::make(name, IntConst::make(0), end, std::move(body), loop::LoopKind::Lane),
        loop::LoopKind::Warp);
  }
  if (!lanes || inner.lanes == 1)
    return loop::For::make(name, IntConst::make(0), end, std::move(body), kind_of(loop.tag));
  const Expr number =
      loop::Binary::make(loop::BinaryOp::Div, inner.lane, IntConst::make(inner.lanes));
  return loop::For::make(inner.lane.as<loop::Var>()->name, IntConst::make(0), end * inner.lanes,
                         loop::Block::make({loop::Let::make(name, number), std::move(body)}),
                         loop::LoopKind::Lane);
}

}  // namespace tulle::lower
