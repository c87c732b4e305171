// Folds the presence of operands to conditions.
#include "lower/presence.h"

#include "expr/absence.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

namespace {

Expr always() { return IntConst::make(1, loop::kBool); }
Expr never() { return IntConst::make(0, loop::kBool); }

}  // namespace

void Presence::ask_sums(bool asks) {
  asks_sums_ = asks;
  known_.clear();
}

Expr Presence::of(const nest::Stmt& stmt) {
  ask_sums(false);
  const Expr active = of_parts(stmt);
  ask_sums(true);
  return active;
}

Expr Presence::of(const nest::Assign& assign) {
  ask_sums(false);
  const bool is_sum = nest::starts_absent(assign.accumulate);
  const Expr active = is_sum ? changes_sum(assign.value) : of(assign.value);
  ask_sums(true);
  return active;
}

Expr Presence::of_parts(const nest::Stmt& stmt) {
  if (const auto* forall = stmt.as<nest::Forall>()) return of_parts(forall->body);
  if (const auto* where = stmt.as<nest::Where>()) return of_where(*where);
  if (const auto* sequence = stmt.as<nest::Sequence>()) {
    Expr any = never();
    for (const nest::Stmt& part : sequence->stmts) any = either(any, of_parts(part));
    return any;
  }
  const auto* assign = stmt.as<nest::Assign>();
  return nest::starts_absent(assign->accumulate) ? changes_sum(assign->value) : of(assign->value);
}

Expr Presence::of_where(const nest::Where& where) {
  const Expr filled = of_parts(where.producer);
  const std::map<int, Expr> before = here_;
  for (const int id : absent_reads(where)) {
    const auto known = here_.find(id);
    here_[id] = known == here_.end() ? filled : both(known->second, filled);
  }
  known_.clear();
  const Expr active = of_parts(where.consumer);
  known_.clear();
  here_ = before;
  return active;
}

Expr Presence::changes_sum(const expr::Expr& expr) {
  if (expr::is_zero(expr)) return never();
  if (const auto* choose = expr.as<expr::Choose>())
    return of_choice(*choose, changes_sum(choose->no));
  const auto* binary = expr.as<expr::Binary>();
  const bool subtracts = binary && binary->op == expr::BinaryOp::Sub;
  if (!subtracts && !(binary && binary->op == expr::BinaryOp::Add)) return of(expr);
  const Expr a = changes_sum(binary->a);
  if (subtracts) return either(a, of(binary->b));
  return either(either(a, changes_sum(binary->b)), both(of(binary->a), of(binary->b)));
}

Expr Presence::of(const expr::Expr& expr) {
  const auto known = known_.find(expr.get());
  if (known != known_.end()) return known->second;
  return known_[expr.get()] = decide(expr);
}

Expr Presence::decide(const expr::Expr& expr) {
  if (expr::is_absent(expr)) return never();
  if (const auto* access = expr.as<expr::Access>()) return of_access(*access);
  if (const auto* index = expr.as<expr::IndexValue>(); index && index->is_extent)
    return of_extent(*index);
  if (const auto* unary = expr.as<expr::Unary>())
    return keeps_zero(unary->function) ? of(unary->value) : always();
  if (const auto* choose = expr.as<expr::Choose>()) return of_choice(*choose, of(choose->no));
  const auto* binary = expr.as<expr::Binary>();
  return binary ? of_binary(*binary) : always();
}

Expr Presence::of_access(const expr::Access& access) {
  if (absent_.contains(access.id)) return never();
  const auto tensor = kernel_.tensors.find(access.tensor);
  const bool may_be_empty = asks_sums_ && tensor != kernel_.tensors.end() && tensor->second.written;
  const Expr written = may_be_empty ? tensor->second.written : always();
  const auto here = here_.find(access.id);
  return here == here_.end() ? written : both(here->second, written);
}

// If the index has no coordinates, every sum over it is empty.
Expr Presence::of_extent(const expr::IndexValue& index) const {
  const Expr extent = kernel_.coordinates.extent(index.index);
  const auto* known = extent.as<IntConst>();
  if (!asks_sums_ || (known && known->value > 0)) return always();
  return Binary::make(BinaryOp::Lt, IntConst::make(0), extent);
}

Expr Presence::of_choice(const expr::Choose& choose, const Expr& no) {
  const Expr condition = of(choose.condition);
  const Expr any = either(of(choose.yes), of(choose.no));
  if (const auto* known = condition.as<IntConst>()) return known->value != 0 ? any : no;
  return loop::same(any, no) ? any : named(loop::Select::make(condition, any, no));
}

Expr Presence::of_binary(const expr::Binary& binary) {
  const Expr a = of(binary.a), b = of(binary.b);
  switch (binary.op) {
    case expr::BinaryOp::Mul:
      return mutant("presence-of-any-factor") && !here_.empty() ? either(a, b) : both(a, b);
    case expr::BinaryOp::Div:
    case expr::BinaryOp::Within:
      return a;
    default:
      return either(a, b);
  }
}

Expr Presence::named(const Expr& condition) {
  return here_.empty() ? condition : out_.let("present", condition);
}

Expr Presence::either(const Expr& a, const Expr& b) {
  if (const auto* known = a.as<IntConst>()) return known->value != 0 ? a : b;
  if (const auto* known = b.as<IntConst>()) return known->value != 0 ? b : a;
  return loop::same(a, b) ? a : named(Binary::make(BinaryOp::Or, a, b));
}

Expr Presence::both(const Expr& a, const Expr& b) {
  if (const auto* known = a.as<IntConst>()) return known->value != 0 ? b : a;
  if (const auto* known = b.as<IntConst>()) return known->value != 0 ? a : b;
  return loop::same(a, b) ? a : named(loop::both(a, b));
}

}  // namespace tulle::lower
