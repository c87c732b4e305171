// Widens statements. Conditions that differ between lanes become masks.
#include "passes/widen.h"

#include <utility>

#include "loop/fresh_names.h"
#include "loop/rewrite.h"
#include "passes/widen_expr.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::passes {

using namespace loop;

namespace {

constexpr int64_t kCacheLine = 64;

// Whether the statement contains code other than masked vector operations, which must not execute
// without an active lane.
bool needs_an_active_lane(const Stmt& stmt) {
  bool needed = false;
  visit(
      stmt,
      [&](const Stmt& inner) {
        const auto* store = inner.as<Store>();
        needed |= store && !store->index.type().is_vector();
        needed |= inner->kind == StmtKind::For || inner->kind == StmtKind::While;
      },
      [&](const Expr& expr) {
        needed |= expr->kind == ExprKind::Load && !expr.type().is_vector();
      });
  return needed;
}

class StmtWidener {
 public:
  StmtWidener(const For& loop, const VectorFacts& facts, const LaneRange& range,
              const std::map<std::string, std::string>& partials, FreshNames& names)
      : facts_(facts),
        range_(range),
        partials_(partials),
        mask_(range.mask),
        exprs_(range.lanes, range.mask, range.padded, names) {
    exprs_.values()[loop.var] = Ramp::make(range.first, IntConst::make(1), range.lanes);
    for (const LaneReduction& reduction : facts.reductions) {
      exprs_.values()[reduction.name] =
          Var::make(partials.at(reduction.name), reduction.type.with_lanes(range.lanes));
    }
  }

  // A body as a block of its own.
  Stmt widen(const Stmt& stmt) {
    std::vector<Stmt> stmts;
    for (const Stmt& inner : statements_of(stmt)) add(inner, stmts);
    return Block::make(std::move(stmts));
  }

 private:
  // Appends the vector form of a statement, after the masks that it needs.
  void add(const Stmt& stmt, std::vector<Stmt>& out) {
    if (const auto* branch = stmt.as<If>()) return add_if(*branch, out);
    const Stmt result = widen_one(stmt);
    const std::vector<Stmt> lets = exprs_.take_lets();
    out.insert(out.end(), lets.begin(), lets.end());
    out.push_back(result);
  }

  Stmt widen_one(const Stmt& stmt) {
    switch (stmt->kind) {
      case StmtKind::Block:
        return widen(stmt);
      case StmtKind::Let:
        return widen_let(*stmt.as<Let>());
      case StmtKind::Declare:
        return widen_declare(*stmt.as<Declare>());
      case StmtKind::Assign:
        return widen_assign(*stmt.as<Assign>());
      case StmtKind::Store:
        return widen_store(*stmt.as<Store>());
      case StmtKind::Atomic: {
        const auto* atomic = stmt.as<Atomic>();
        return Atomic::make(atomic->op, atomic->buffer, exprs_.widen(atomic->index, {mask_}),
                            exprs_.widen_to_vector(atomic->value, {mask_}), {});
      }
      case StmtKind::PrefetchLine:
        return widen_prefetch(*stmt.as<PrefetchLine>());
      case StmtKind::For: {
        const auto* loop = stmt.as<For>();
        exprs_.values().erase(loop->var);
        return For::make(loop->var, loop->begin, loop->end, widen(loop->body), loop->loop,
                         loop->factor, loop->step);
      }
      case StmtKind::While: {
        const auto* loop = stmt.as<While>();
        return While::make(loop->condition, widen(loop->body));
      }
      default:
        internal_error("a statement without a vector form");
    }
  }

  Stmt widen_let(const Let& let) {
    const Expr value = exprs_.widen(let.value, {mask_});
    exprs_.values().erase(let.name);
    if (!value.type().is_vector()) return Let::make(let.name, value);
    const auto* ramp = value.as<Ramp>();
    if (ramp && ramp->stride.as<IntConst>()) {
      // The name keeps the value of lane 0, so that indices derived from it are recognised as
      // ramps.
      exprs_.values()[let.name] = Ramp::make(Var::make(let.name), ramp->stride, range_.lanes);
      return Let::make(let.name, ramp->base);
    }
    exprs_.values()[let.name] = Var::make(let.name, value.type());
    return Let::make(let.name, value);
  }

  Stmt widen_declare(const Declare& declare) {
    if (!facts_.varying.contains(declare.name)) {
      exprs_.values().erase(declare.name);
      return Declare::make(declare.name, declare.init);
    }
    const Expr init = exprs_.widen_to_vector(declare.init, {mask_});
    exprs_.values()[declare.name] = Var::make(declare.name, init.type());
    declared_under_[declare.name] = mask_;
    return Declare::make(declare.name, init);
  }

  Stmt widen_assign(const Assign& assign) {
    const auto old = exprs_.values().find(assign.name);
    if (old == exprs_.values().end()) return Assign::make(assign.name, assign.value);
    Expr value = exprs_.widen_to_vector(assign.value, {mask_});
    const auto partial = partials_.find(assign.name);
    const std::string& name = partial == partials_.end() ? assign.name : partial->second;
    // Inactive lanes keep their old value. Variables that have no value yet need no mask.
    const Expr unmasked = partial == partials_.end() ? declared_under_[assign.name] : Expr();
    const bool whole = !mask_ || mask_.get() == unmasked.get();
    if (!whole && !mutant("vectorize-ignores-mask"))
      value = Select::make(mask_, value, old->second);
    return Assign::make(name, value);
  }

  Stmt widen_store(const Store& store) {
    const Expr index = exprs_.widen(store.index, {mask_});
    if (!index.type().is_vector()) {
      TULLE_CHECK(!store.predicate, "a predicate on the scalar store to ", store.buffer->name);
      return Store::make(store.buffer, index, exprs_.widen(store.value, {mask_}), {},
                         store.nontemporal);
    }
    Expr predicate = mask_;
    if (store.predicate)
      predicate = both_masks(predicate, exprs_.widen_to_vector(store.predicate, {mask_}));
    return Store::make(store.buffer, index, exprs_.widen_to_vector(store.value, {mask_}),
                       exprs_.predicate_for(*store.buffer, predicate), store.nontemporal);
  }

  void add_if(const If& branch, std::vector<Stmt>& out) {
    const Expr condition = exprs_.widen(branch.condition, {mask_});
    if (!condition.type().is_vector()) {
      out.push_back(If::make(condition, widen(branch.yes), branch.no ? widen(branch.no) : Stmt()));
      return;
    }
    const Expr chosen = exprs_.name_mask(condition);
    add_arm(branch.yes, chosen, out);
    if (branch.no) add_arm(branch.no, Call::make(Function::Not, {chosen}), out);
  }

  void add_arm(const Stmt& arm, const Expr& chosen, std::vector<Stmt>& out) {
    const Expr outer = std::exchange(mask_, exprs_.name_mask(both_masks(mask_, chosen)));
    const std::vector<Stmt> lets = exprs_.take_lets();
    out.insert(out.end(), lets.begin(), lets.end());
    const Stmt body = widen(arm);
    const bool guarded = needs_an_active_lane(body);
    out.push_back(guarded ? If::make(VectorReduce::make(ReduceOp::Or, mask_), body) : body);
    mask_ = outer;
  }

  // One prefetch per cache line of a ramp. Irregular lanes are not prefetched.
  Stmt widen_prefetch(const PrefetchLine& prefetch) {
    const Expr index = exprs_.widen(prefetch.index, {mask_});
    if (!index.type().is_vector())
      return PrefetchLine::make(prefetch.buffer, index, prefetch.locality);
    std::vector<Stmt> stmts;
    const auto* ramp = index.as<Ramp>();
    if (ramp && is_constant(ramp->stride, 1)) {
      const int64_t line = kCacheLine / size_of(prefetch.buffer->element);
      for (int64_t lane = 0; lane < range_.lanes; lane += line) {
        stmts.push_back(PrefetchLine::make(prefetch.buffer, ramp->base + lane, prefetch.locality));
      }
    }
    return Block::make(std::move(stmts));
  }

  const VectorFacts& facts_;
  const LaneRange& range_;
  const std::map<std::string, std::string>& partials_;
  Expr mask_;
  ExprWidener exprs_;
  std::map<std::string, Expr> declared_under_;
};

}  // namespace

Stmt widen(const For& loop, const VectorFacts& facts, const LaneRange& range,
           const std::map<std::string, std::string>& partials, FreshNames& names) {
  return StmtWidener(loop, facts, range, partials, names).widen(loop.body);
}

}  // namespace tulle::passes
