// Folding of expressions where operands are absent.
#include "expr/absence.h"

#include "support/check.h"
#include "support/mutant.h"

namespace tulle::expr {

namespace {

class Folder {
 public:
  explicit Folder(const std::function<bool(const Access&)>& absent) : absent_(absent) {}

  // What is left, or null where the whole is absent. A 0 in the text is a value, not an absence.
  Expr fold(const Expr& expr) const {
    if (const auto* access = expr.as<Access>()) return absent_(*access) ? Expr() : expr;
    if (const auto* binary = expr.as<Binary>()) return fold_binary(expr, *binary);
    if (const auto* unary = expr.as<Unary>()) {
      const Expr value = fold(unary->value);
      // Every element function keeps zero.
      if (!value || value.get() == unary->value.get()) return value ? expr : value;
      return Unary::make(unary->function, value, unary->type);
    }
    if (const auto* reduce = expr.as<Reduce>()) {
      const Expr body = fold(reduce->body);
      if (!body || body.get() == reduce->body.get()) return body ? expr : body;
      return std::make_shared<const Reduce>(reduce->type, reduce->indices, body);
    }
    return expr;
  }

 private:
  Expr fold_binary(const Expr& expr, const Binary& binary) const {
    Expr a = fold(binary.a);
    Expr b = fold(binary.b);
    if (a.get() == binary.a.get() && b.get() == binary.b.get()) return expr;
    switch (binary.op) {
      case BinaryOp::Add:
        if (!a && !b) return {};
        if (!a || !b) return converted(a ? a : b, binary.type);
        break;
      case BinaryOp::Sub:
        if (!a && !b) return {};
        if (!b) return converted(a, binary.type);
        if (!a && mutant("absence-drops-sign")) return converted(b, binary.type);
        if (!a) return Unary::make(ElementFunction::Neg, b, binary.type);
        break;
      case BinaryOp::Mul:
        if (mutant("absence-keeps-product") && (a || b)) return converted(a ? a : b, binary.type);
        if (!a || !b) return {};
        break;
      case BinaryOp::Div:
        if (!a) return {};
        if (!b) b = Literal::make(0, true, binary.type);
        break;
    }
    return Binary::make(binary.op, a, b, binary.type);
  }

  // The term that stays, in the type that the sum had: times 1 where that differs.
  static Expr converted(const Expr& term, DType type) {
    if (term.type() == type) return term;
    return Binary::make(BinaryOp::Mul, term, Literal::make(1, true, type), type);
  }

  const std::function<bool(const Access&)>& absent_;
};

}  // namespace

Expr without(const Expr& expr, const std::function<bool(const Access&)>& absent) {
  const Expr rest = Folder(absent).fold(expr);
  return rest ? rest : Literal::make(0, true, expr.type());
}

bool is_zero(const Expr& expr) {
  const auto* literal = expr.as<Literal>();
  return literal != nullptr && literal->value == 0;
}

}  // namespace tulle::expr
