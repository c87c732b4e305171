// Widens expressions, with one case per node that may vary between lanes.
#include "passes/widen_expr.h"

#include "loop/rewrite.h"
#include "support/check.h"

namespace tulle::passes {

using namespace loop;

namespace {

bool touches_memory(const Expr& expr) {
  bool found = false;
  visit(expr, [&](const Expr& inner) { found |= inner->kind == ExprKind::Load; });
  return found;
}

bool divides_integers(const Binary& expr) {
  return (expr.op == BinaryOp::Div || expr.op == BinaryOp::Mod) && !expr.type.is_float();
}

// Splits an index into base and stride; a scalar has stride 0. False for any other vector.
bool split_ramp(const Expr& index, Expr& base, Expr& stride) {
  if (index.type() == kIndex) {
    base = index;
    stride = IntConst::make(0);
    return true;
  }
  const auto* ramp = index.as<Ramp>();
  if (!ramp) return false;
  base = ramp->base;
  stride = ramp->stride;
  return true;
}

// The sum, difference or multiple of ramps and scalars as a ramp; null if it is not one.
Expr ramp_arithmetic(BinaryOp op, const Expr& a, const Expr& b, int lanes) {
  Expr base_a, stride_a, base_b, stride_b;
  if (!split_ramp(a, base_a, stride_a) || !split_ramp(b, base_b, stride_b)) return {};
  switch (op) {
    case BinaryOp::Add:
      return Ramp::make(base_a + base_b, stride_a + stride_b, lanes);
    case BinaryOp::Sub:
      return Ramp::make(base_a - base_b, stride_a - stride_b, lanes);
    case BinaryOp::Mul:
      if (!b.type().is_vector()) return Ramp::make(base_a * base_b, stride_a * base_b, lanes);
      if (!a.type().is_vector()) return Ramp::make(base_a * base_b, base_a * stride_b, lanes);
      return {};
    default:
      return {};
  }
}

}  // namespace

Expr both_masks(const Expr& a, const Expr& b) {
  if (!a || !b) return a ? a : b;
  return Binary::make(BinaryOp::And, a, b);
}

Expr ExprWidener::broadcast(const Expr& value) const {
  return value.type().is_vector() ? value : Broadcast::make(value, lanes_);
}

Expr ExprWidener::predicate_for(const BufferNode& buffer, const Expr& mask) const {
  const bool room = mask && mask.get() == existing_.get() && padded_.contains(buffer.name);
  return room ? Expr() : mask;
}

Expr ExprWidener::name_mask(const Expr& mask) {
  if (mask.as<Var>()) return mask;
  const std::string name = names_.fresh("lanes");
  lets_.push_back(Let::make(name, mask));
  return Var::make(name, mask.type());
}

Expr ExprWidener::widen_to_vector(const Expr& expr, const Active& active) {
  return broadcast(widen(expr, active));
}

// Whether the scalar value is valid for all lanes.
bool ExprWidener::agrees(const Expr& expr, const Active& active) const {
  bool differs = !active.certain && touches_memory(expr);
  visit(expr, [&](const Expr& inner) {
    const auto* var = inner.as<Var>();
    differs |= var && values_.contains(var->name);
  });
  return !differs;
}

Expr ExprWidener::widen(const Expr& expr, const Active& active) {
  if (agrees(expr, active)) return expr;
  switch (expr->kind) {
    case ExprKind::Var:
      return values_.at(expr.as<Var>()->name);
    case ExprKind::Binary:
      return widen_binary(*expr.as<Binary>(), active);
    case ExprKind::Select:
      return widen_select(*expr.as<Select>(), active);
    case ExprKind::Load:
      return widen_load(*expr.as<Load>(), active);
    case ExprKind::Cast:
      return Cast::make(expr.type().scalar, widen_to_vector(expr.as<Cast>()->value, active));
    case ExprKind::Call: {
      std::vector<Expr> args;
      for (const Expr& arg : expr.as<Call>()->args) args.push_back(widen_to_vector(arg, active));
      return Call::make(expr.as<Call>()->function, std::move(args));
    }
    default:
      internal_error("an expression without a vector form");
  }
}

Expr ExprWidener::widen_binary(const Binary& expr, const Active& active) {
  const Expr a = widen(expr.a, active);
  if (is_logical(expr.op) && touches_memory(expr.b)) {
    // Evaluates the right operand only in lanes where the left one does not decide.
    const Expr left = name_mask(broadcast(a));
    const Expr open = expr.op == BinaryOp::And ? left : Call::make(Function::Not, {left});
    const Expr right = widen_to_vector(expr.b, {name_mask(both_masks(active.mask, open)), false});
    return Binary::make(expr.op, left, right);
  }
  Expr b = widen(expr.b, active);
  if (divides_integers(expr) && active.mask && !b.as<IntConst>()) {
    // Inactive lanes may hold any value, including zero.
    b = Select::make(active.mask, broadcast(b), IntConst::make(1, expr.type.with_lanes(lanes_)));
  }
  if (expr.type == kIndex) {
    if (Expr ramp = ramp_arithmetic(expr.op, a, b, lanes_)) return ramp;
  }
  return Binary::make(expr.op, broadcast(a), broadcast(b));
}

Expr ExprWidener::widen_select(const Select& expr, const Active& active) {
  Expr condition = widen_to_vector(expr.condition, active);
  const bool lazy = touches_memory(expr.yes) || touches_memory(expr.no);
  if (lazy) condition = name_mask(condition);
  const auto arm = [&](const Expr& value, const Expr& chosen) {
    if (!touches_memory(value)) return widen_to_vector(value, active);
    return widen_to_vector(value, {name_mask(both_masks(active.mask, chosen)), false});
  };
  const Expr yes = arm(expr.yes, condition);
  const Expr no = arm(expr.no, Call::make(Function::Not, {condition}));
  return Select::make(condition, yes, no);
}

Expr ExprWidener::widen_load(const Load& expr, const Active& active) {
  Expr predicate = active.mask;
  if (expr.predicate) predicate = both_masks(predicate, widen_to_vector(expr.predicate, active));
  const Expr index = widen_to_vector(expr.index, active);
  return Load::make(expr.buffer, index, predicate_for(*expr.buffer, predicate));
}

}  // namespace tulle::passes
