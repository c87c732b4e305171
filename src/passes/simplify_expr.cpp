// One function per kind of node. Each returns null if no rule applies.
#include "passes/simplify_expr.h"

#include <cmath>
#include <cstdlib>
#include <optional>

#include "loop/rewrite.h"
#include "passes/linear.h"

namespace tulle::passes {

using namespace loop;

namespace {

int count_nodes(const Expr& expr) {
  int count = 0;
  visit(expr, [&](const Expr&) { ++count; });
  return count;
}

Expr from_linear(const Linear& sum) {
  Expr result;
  for (const auto& [term, coefficient] : sum.terms) {
    const Expr part = term * std::abs(coefficient);
    if (!result) {
      result = coefficient > 0 ? part : term * coefficient;
    } else {
      result = coefficient > 0 ? result + part : result - part;
    }
  }
  if (!result) return IntConst::make(sum.constant);
  return sum.constant < 0 ? result - -sum.constant : result + sum.constant;
}

// The linear form of (x + 3) - x or (x + 1) + 2, if it is shorter.
Expr simplify_sum(const Binary& expr, const Expr& whole) {
  if (expr.op != BinaryOp::Add && expr.op != BinaryOp::Sub) return {};
  Expr sum = from_linear(linear_form(whole));
  return count_nodes(sum) < count_nodes(whole) ? sum : Expr();
}

std::optional<bool> compare(BinaryOp op, int64_t difference) {
  switch (op) {
    case BinaryOp::Eq:
      return difference == 0;
    case BinaryOp::Ne:
      return difference != 0;
    case BinaryOp::Lt:
      return difference < 0;
    case BinaryOp::Le:
      return difference <= 0;
    case BinaryOp::Gt:
      return difference > 0;
    case BinaryOp::Ge:
      return difference >= 0;
    default:
      return std::nullopt;
  }
}

// Comparisons, minima and maxima of indices with a constant difference.
Expr simplify_order(const Binary& expr) {
  const auto difference = constant_difference(expr.a, expr.b);
  if (!difference) return {};
  if (expr.op == BinaryOp::Min) return *difference < 0 ? expr.a : expr.b;
  if (expr.op == BinaryOp::Max) return *difference < 0 ? expr.b : expr.a;
  const auto answer = compare(expr.op, *difference);
  return answer ? IntConst::make(*answer ? 1 : 0, kBool) : Expr();
}

// Multiplying by one preserves every bit; adding zero does not (-0 + 0 is 0).
Expr simplify_float(const Binary& expr) {
  const auto* a = expr.a.as<FloatConst>();
  const auto* b = expr.b.as<FloatConst>();
  if ((expr.op == BinaryOp::Mul || expr.op == BinaryOp::Div) && b && b->value == 1) return expr.a;
  if (expr.op == BinaryOp::Mul && a && a->value == 1) return expr.b;
  if (!a || !b) return {};
  double value = 0;
  switch (expr.op) {
    case BinaryOp::Add:
      value = a->value + b->value;
      break;
    case BinaryOp::Sub:
      value = a->value - b->value;
      break;
    case BinaryOp::Mul:
      value = a->value * b->value;
      break;
    case BinaryOp::Div:
      value = a->value / b->value;
      break;
    default:
      return {};
  }
  // Rounding the double result to float32 gives the result of float32 arithmetic.
  if (expr.type == Type{DType::Float32, 1})
    value = static_cast<float>(value);
  else if (expr.type != Type{DType::Float64, 1})
    return {};
  return std::isfinite(value) ? FloatConst::make(value, expr.type) : Expr();
}

Expr simplify_vector(const Binary& expr) {
  const auto* a = expr.a.as<Broadcast>();
  const auto* b = expr.b.as<Broadcast>();
  const int lanes = expr.a.type().lanes;
  if (a && b)
    return Broadcast::make(simplify_node(Binary::make(expr.op, a->value, b->value)), lanes);
  if (!is_logical(expr.op)) return {};
  const int64_t neutral = expr.op == BinaryOp::And ? 1 : 0;
  if (a)
    return is_constant(a->value, neutral)       ? expr.b
           : is_constant(a->value, 1 - neutral) ? expr.a
                                                : Expr();
  if (b)
    return is_constant(b->value, neutral)       ? expr.a
           : is_constant(b->value, 1 - neutral) ? expr.b
                                                : Expr();
  return {};
}

Expr simplify_binary(const Binary& expr, const Expr& whole) {
  if (expr.a.type().is_vector()) return simplify_vector(expr);
  if (expr.a.type().is_float()) return is_comparison(expr.op) ? Expr() : simplify_float(expr);
  if (expr.a.type() != kIndex) return {};
  Expr sum = simplify_sum(expr, whole);
  return sum ? sum : simplify_order(expr);
}

std::optional<BinaryOp> opposite(BinaryOp op) {
  switch (op) {
    case BinaryOp::Eq:
      return BinaryOp::Ne;
    case BinaryOp::Ne:
      return BinaryOp::Eq;
    case BinaryOp::Lt:
      return BinaryOp::Ge;
    case BinaryOp::Le:
      return BinaryOp::Gt;
    case BinaryOp::Gt:
      return BinaryOp::Le;
    case BinaryOp::Ge:
      return BinaryOp::Lt;
    default:
      return std::nullopt;
  }
}

Expr simplify_not(const Expr& value) {
  if (const auto* known = value.as<IntConst>())
    return IntConst::make(known->value == 0, value.type());
  if (const auto* call = value.as<Call>(); call && call->function == Function::Not)
    return call->args[0];
  const auto* binary = value.as<Binary>();
  if (!binary || binary->a.type().is_float()) return {};  // both orders are false for NaN
  const auto op = opposite(binary->op);
  return op ? Binary::make(*op, binary->a, binary->b) : Expr();
}

Expr simplify_cast(const Cast& cast) {
  if (const auto* spread = cast.value.as<Broadcast>()) {
    return Broadcast::make(simplify_node(Cast::make(cast.type.scalar, spread->value)),
                           cast.type.lanes);
  }
  const auto* known = cast.value.as<IntConst>();
  if (!known || cast.type.scalar != DType::Int32 ||
      known->value != static_cast<int32_t>(known->value))
    return {};
  return IntConst::make(known->value, cast.type);
}

Expr simplify_reduce(const VectorReduce& reduce) {
  const auto* spread = reduce.value.as<Broadcast>();
  const bool idempotent = reduce.op != ReduceOp::Add && reduce.op != ReduceOp::Mul;
  return spread && idempotent ? spread->value : Expr();
}

bool is_true(const Expr& predicate) {
  const auto* spread = predicate.as<Broadcast>();
  return is_constant(spread ? spread->value : predicate, 1);
}

Expr find_rule(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::Binary:
      return simplify_binary(*expr.as<Binary>(), expr);
    case ExprKind::Cast:
      return simplify_cast(*expr.as<Cast>());
    case ExprKind::VectorReduce:
      return simplify_reduce(*expr.as<VectorReduce>());
    case ExprKind::Call: {
      const auto* call = expr.as<Call>();
      return call->function == Function::Not ? simplify_not(call->args[0]) : Expr();
    }
    case ExprKind::Select: {
      const auto* select = expr.as<Select>();
      return select->yes.get() == select->no.get() ? select->yes : Expr();
    }
    case ExprKind::Load: {
      const auto* load = expr.as<Load>();
      return load->predicate && is_true(load->predicate) ? Load::make(load->buffer, load->index)
                                                         : Expr();
    }
    default:
      return {};
  }
}

}  // namespace

Expr simplify_node(const Expr& expr) {
  Expr shorter = find_rule(expr);
  return shorter ? shorter : expr;
}

}  // namespace tulle::passes
