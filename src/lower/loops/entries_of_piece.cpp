// Visits entries by number.
#include "lower/loops/entries_of_piece.h"

#include <string>
#include <utility>

#include "lower/cursors.h"
#include "lower/loops/bound_for.h"
#include "lower/loops/pieces_of_row.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;
using nest::Variable;

namespace {

// The current number of the other loop: of the piece, or of the entry in all pieces.
Expr other_number(const LoopSite& site) {
  const Variable& variable = site.variable();
  for (const auto& [partner, other] : site.parts.kernel.nest.variables) {
    if (partner == site.loop.var || !other.is_position() || other.parent != variable.parent)
      continue;
    const auto found = site.scope.coordinates.find(partner);
    if (found != site.scope.coordinates.end()) return found->second;
  }
  internal_error("the pieces that the entries along ", variable.parent, " are cut into");
}

// A loop over the entries of a piece, or over pieces at an entry's number.
class Entries {
 public:
  explicit Entries(const LoopSite& site)
      : site_(site),
        id_(numbered_access(site)),
        bound_(site.parts.kernel, site.loop, site.parts.kernel.names.fresh(site.loop.var),
               site.scope.thread) {
    scope_.thread = bound_.inside;
    scope_.storing.conditional |= !visits_all_of_result(site.parts.kernel, cursor());
  }

  // Each thread has one entry.
  void lower_bound(Emitter& out) const {
    KernelContext& kernel = site_.parts.kernel;
    TULLE_CHECK(!counts_pieces_, "a bound loop over pieces inside one over their entries");
    const Expr number = loop::Var::make(bound_.name);
    Emitter body = out.nested(), entry = out.nested();
    const Expr at =
        body.let(variable_.tensor + "_p", row_.begin + other_ * variable_.factor + number);
    visit(number, at, entry);
    if (mutant("piece-unguarded")) {
      body.append(entry);
    } else {
      body.add(loop::If::make(at < row_.end, entry.take()));
    }
    out.add(bound_.over(kernel, IntConst::make(variable_.factor), body.take()));
  }

  void lower_serial(Emitter& out) const {
    CopiesAhead& copies_ahead = site_.parts.ahead;
    const nest::LoopTag& tag = site_.loop.tag;
    const std::string name = site_.parts.kernel.names.fresh(variable_.tensor + "_p");
    const Expr at = loop::Var::make(name);
    const std::vector<Ahead> ahead = copies_ahead.begin(site_.loop, scope_, out);
    const Expr first =
        out.let("first", row_.begin + (counts_pieces_ ? other_ : other_ * variable_.factor));
    const Expr last = counts_pieces_ ? row_.end : loop::minimum(row_.end, first + variable_.factor);
    const int64_t step = counts_pieces_ ? variable_.factor : 1;
    const auto number = [&](const Expr& position) {
      if (!counts_pieces_) return position - first;
      return Binary::make(BinaryOp::Div, position - first, IntConst::make(variable_.factor));
    };
    Emitter body = out.nested();
    visit(number(at), at, body);
    const auto visit_ahead = [&](const nest::Forall& copy, const Expr& position, Emitter& inside,
                                 const BodyLowering& instead) {
      visit_in(copy, number(position), position, producing(scope_), inside, instead);
    };
    const Counter counter{variable_.parent, name, first, last, step, visit_ahead};
    const bool unrolls = tag.kind == nest::LoopTag::Kind::Unrolled && tag.factor > 1;
    out.add(loop::For::make(
        name, first, last, copies_ahead.around(ahead, counter, body.take(), out),
        unrolls ? loop::ForKind::Unrolled : loop::ForKind::Serial, unrolls ? tag.factor : 0, step));
  }

 private:
  const Cursor& cursor() const { return site_.scope.cursors.at(id_); }

  void visit(const Expr& number, const Expr& at, Emitter& out) const {
    const nest::Stmt walk = entries_walk(site_);
    visit_in(*walk.as<nest::Forall>(), number, at, scope_, out, {});
  }

  void visit_in(const nest::Forall& visited, const Expr& number, const Expr& at, KernelScope scope,
                Emitter& out, const BodyLowering& instead) const {
    const LevelCode& level = site_.parts.kernel.level_code(cursor());
    scope.coordinates[site_.loop.var] = number;
    const Expr coordinate = out.let(variable_.parent, level.coordinate(at, row_));
    const Positions entry{level.child(at), {}};
    site_.parts.entering.enter({visited, coordinate, {id_}, {{id_, entry}}}, std::move(scope), out,
                               instead);
  }

  const LoopSite& site_;
  const int id_;
  const BoundFor bound_;
  KernelScope scope_ = site_.scope;
  const Variable& variable_ = site_.variable();
  const bool counts_pieces_ = variable_.origin == Variable::Origin::OuterPosition;
  const Positions row_ = site_.scope.entries.of_row.at(variable_.parent);
  const Expr other_ = other_number(site_);
};

}  // namespace

bool EntriesOfPiece::applies(const LoopSite& site) const {
  return site.scope.entries.of_row.contains(site.variable().parent) && numbers_entries(site);
}

void EntriesOfPiece::lower(const LoopSite& site, Emitter& out) const {
  const Entries entries(site);
  if (site.loop.tag.is_bound()) {
    entries.lower_bound(out);
  } else {
    entries.lower_serial(out);
  }
}

}  // namespace tulle::lower
