// Reduces expressions to the part that decides their presence.
#include "expr/presence.h"

#include "expr/absence.h"

namespace tulle::expr {

bool is_everywhere(const Expr& expr, const IsSparse& is_sparse) {
  return !is_zero(without(expr, [&](const Access& access) { return is_sparse(access.tensor); }));
}

Expr presence_of(const Expr& expr, const IsSparse& is_sparse) {
  const auto* unary = expr.as<Unary>();
  if (unary && keeps_zero(unary->function)) return presence_of(unary->value, is_sparse);
  const auto* binary = expr.as<Binary>();
  if (!binary) return expr;
  if (binary->op == BinaryOp::Within || binary->op == BinaryOp::Div) {
    return presence_of(binary->a, is_sparse);
  }
  if (binary->op == BinaryOp::Mul && is_everywhere(binary->a, is_sparse)) {
    return presence_of(binary->b, is_sparse);
  }
  if (binary->op == BinaryOp::Mul && is_everywhere(binary->b, is_sparse)) {
    return presence_of(binary->a, is_sparse);
  }
  return expr;
}

}  // namespace tulle::expr
