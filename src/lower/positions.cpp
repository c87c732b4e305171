// Loops over the entries of a row by number: pieces of equally many, and the entries of a piece.
#include "lower/kernel_lowering.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;
using nest::Variable;

bool KernelLowering::position_loop(const nest::Forall& loop, const Scope& scope, Emitter& out) {
  const Variable& variable = nest_.variable(loop.var);
  if (!variable.is_position() || coordinates_.coordinate(variable.parent, scope)) return false;
  const nest::Stmt walk = nest::Forall::make(variable.parent, loop.body);
  const AccessSet walked = iterators(*walk.as<nest::Forall>(), scope);
  if (walked.empty()) return false;
  TULLE_CHECK(walked.size() == 1, "one operand whose entries are counted along ", variable.parent);
  const int id = *walked.begin();
  Scope inner = inside(loop, scope);
  inner.conditional = true;
  if (const auto row = scope.pieces.find(variable.parent); row != scope.pieces.end()) {
    for (const auto& [name, other] : nest_.variables) {
      const auto found = scope.coordinates.find(name);
      if (name == loop.var || !other.is_position() || other.parent != variable.parent) continue;
      if (found == scope.coordinates.end()) continue;
      entry_loop(loop, id, row->second, found->second, inner, out);
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
  const std::string name = names_.fresh(loop.var);
  inner.coordinates[loop.var] = loop::Var::make(name);
  Emitter body = out.nested();
  lower(loop.body, inner, body);
  out.add(loop::For::make(name, IntConst::make(0), count, body.take(),
                          loop.tag.is_bound() ? kind_of(loop.tag) : loop::LoopKind::Serial));
  return true;
}

void KernelLowering::entry_loop(const nest::Forall& loop, int id, const Positions& row,
                                const Expr& other, const Scope& scope, Emitter& out) {
  const Variable& variable = nest_.variable(loop.var);
  const LevelCode& level = level_code(scope.cursors.at(id));
  const bool counts_pieces = variable.origin == Variable::Origin::OuterPosition;
  const nest::Stmt walk = nest::Forall::make(variable.parent, loop.body);
  auto visit = [&](const Expr& number, const Expr& at, Emitter& body) {
    Scope inner = scope;
    inner.coordinates[loop.var] = number;
    const Expr coordinate = body.let(variable.parent, level.coordinate(at, row));
    enter(*walk.as<nest::Forall>(), coordinate, {id}, {{id, {level.child(at), {}}}}, inner, body);
  };
  Emitter body = out.nested();
  if (loop.tag.is_bound()) {
    TULLE_CHECK(!counts_pieces, "a bound loop over pieces inside one over their entries");
    const std::string name = names_.fresh(loop.var);
    const Expr number = loop::Var::make(name);
    const Expr at = body.let(variable.tensor + "_p", row.begin + other * variable.factor + number);
    Emitter entry = out.nested();
    visit(number, at, entry);
    if (mutant("piece-unguarded")) {
      for (loop::Stmt& stmt : entry.take_statements()) body.add(std::move(stmt));
    } else {
      body.add(loop::If::make(at < row.end, entry.take()));
    }
    out.add(loop::For::make(name, IntConst::make(0), IntConst::make(variable.factor), body.take(),
                            kind_of(loop.tag)));
    return;
  }
  const std::string name = names_.fresh(variable.tensor + "_p");
  const Expr at = loop::Var::make(name);
  if (counts_pieces) {
    const Expr first = out.let("first", row.begin + other);
    visit(loop::Binary::make(loop::BinaryOp::Div, at - first, IntConst::make(variable.factor)), at,
          body);
    out.add(loop::For::make(name, first, row.end, body.take(), loop::LoopKind::Serial, 0,
                            variable.factor));
  } else {
    const Expr first = out.let("first", row.begin + other * variable.factor);
    visit(at - first, at, body);
    const bool unrolls = loop.tag.kind == nest::LoopTag::Kind::Unrolled && loop.tag.factor > 1;
    out.add(loop::For::make(name, first, loop::minimum(row.end, first + variable.factor),
                            body.take(),
                            unrolls ? loop::LoopKind::Unrolled : loop::LoopKind::Serial,
                            unrolls ? loop.tag.factor : 0));
  }
}

Scope KernelLowering::inside(const nest::Forall& loop, Scope scope) {
  using Kind = nest::LoopTag::Kind;
  scope.in_warp |= loop.tag.kind == Kind::Warp;
  scope.on_one_thread |= loop.tag.kind == Kind::Lane || loop.tag.kind == Kind::Thread;
  return scope;
}

}  // namespace tulle::lower
