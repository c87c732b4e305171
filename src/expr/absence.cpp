// Folding of expressions with absent operands.
#include "expr/absence.h"

#include <algorithm>

#include "support/mutant.h"

namespace tulle::expr {

namespace {

Expr nothing_of(DType type) {
  Literal nothing(type, 0, true);
  nothing.absent = true;
  return std::make_shared<const Literal>(nothing);
}

class Folder {
 public:
  explicit Folder(const std::function<bool(const Access&)>& absent) : absent_(absent) {}

  // The folded expression, or null if it is absent. A literal 0 is a value, not an absence.
  Expr fold(const Expr& expr) const {
    if (const auto* access = expr.as<Access>()) return absent_(*access) ? Expr() : expr;
    if (is_absent(expr)) return {};
    if (const auto* binary = expr.as<Binary>()) return fold_binary(expr, *binary);
    if (const auto* unary = expr.as<Unary>()) {
      const Expr value = fold(unary->value);
      if (!value && keeps_zero(unary->function)) return {};
      if (value.get() == unary->value.get()) return expr;
      return Unary::make(unary->function, or_zero(value, unary->value.type()), unary->type);
    }
    if (const auto* choose = expr.as<Choose>()) return fold_choice(expr, *choose);
    if (const auto* softmax = expr.as<Softmax>()) {
      const Expr body = fold(softmax->body);
      return body ? expr::with_children(expr, [&](const Expr&) { return body; }) : body;
    }
    if (const auto* reduce = expr.as<Reduce>()) {
      const Expr body = fold(reduce->body);
      // A reduction that always has a value only depends on its accesses.
      if (!body) return is_absent_over_nothing(*reduce) ? Expr() : expr;
      return expr::with_children(expr, [&](const Expr&) { return body; });
    }
    return expr;
  }

 private:
  static Expr or_zero(const Expr& expr, DType type) { return expr ? expr : nothing_of(type); }

  Expr fold_choice(const Expr& expr, const Choose& choose) const {
    const Expr condition = fold(choose.condition);
    const Expr yes = fold(choose.yes);
    const Expr no = fold(choose.no);
    if (!condition) return no ? converted(no, choose.type) : no;
    if (!yes && !no) return {};
    if (condition.get() == choose.condition.get() && yes.get() == choose.yes.get() &&
        no.get() == choose.no.get()) {
      return expr;
    }
    return Choose::make(condition, or_zero(yes, choose.type), or_zero(no, choose.type),
                        choose.type);
  }

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
        // Not the negation of b, which would turn 0 into -0.
        a = or_zero(a, binary.type);
        break;
      case BinaryOp::Mul:
        if (mutant("absence-keeps-product") && (a || b)) return converted(a ? a : b, binary.type);
        if (!a || !b) return {};
        break;
      case BinaryOp::Div:
        if (!a) return {};
        b = or_zero(b, binary.type);
        break;
      case BinaryOp::Max:
      case BinaryOp::Min:
        if (!a && !b) return {};
        a = or_zero(a, binary.type);
        b = or_zero(b, binary.type);
        break;
      case BinaryOp::Within:
        if (!a) return {};
        b = or_zero(b, binary.type);
        break;
    }
    return Binary::make(binary.op, a, b, binary.type);
  }

  // The remaining term, in the type of the sum: multiplied by 1 if the types differ.
  static Expr converted(const Expr& term, DType type) {
    if (term.type() == type) return term;
    return Binary::make(BinaryOp::Mul, term, Literal::make(1, true, type), type);
  }

  const std::function<bool(const Access&)>& absent_;
};

}  // namespace

Expr without(const Expr& expr, const std::function<bool(const Access&)>& absent) {
  const Expr rest = Folder(absent).fold(expr);
  return rest ? rest : nothing_of(expr.type());
}

bool is_absent(const Expr& expr) {
  const auto* literal = expr.as<Literal>();
  return literal != nullptr && literal->absent;
}

bool may_be_infinite(const Expr& expr,
                     const std::function<bool(const std::string& tensor)>& is_unbounded) {
  if (const auto* access = expr.as<Access>()) return is_unbounded(access->tensor);
  if (const auto* binary = expr.as<Binary>(); binary && binary->op == BinaryOp::Div) return true;
  if (const auto* reduce = expr.as<Reduce>(); reduce && reduce->op != Reduction::Sum) return true;
  if (const auto* unary = expr.as<Unary>()) {
    constexpr ElementFunction unbounded[] = {ElementFunction::Log,   ElementFunction::Exp,
                                             ElementFunction::Expm1, ElementFunction::Cosh,
                                             ElementFunction::Sinh,  ElementFunction::Log1p,
                                             ElementFunction::Tan,   ElementFunction::Atanh};
    if (std::find(std::begin(unbounded), std::end(unbounded), unary->function) !=
        std::end(unbounded)) {
      return true;
    }
  }
  const std::vector<Expr> parts = children(expr);
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Expr& part) { return may_be_infinite(part, is_unbounded); });
}

bool is_zero(const Expr& expr) {
  const auto* literal = expr.as<Literal>();
  return literal != nullptr && literal->value == 0;
}

namespace {

class Telling {
 public:
  Telling(const AbsenceQuestions& questions, const std::function<void(const Expr& leaf)>& told)
      : questions_(questions), told_(told) {}

  // `divides`: whether the expression is in a denominator, where the sign of a 0 matters.
  void visit(const Expr& expr, bool fixes, bool divides) const {
    if (expr.as<Access>() || expr.as<Reduce>()) {
      if (fixes) told_(expr);
    } else if (const auto* unary = expr.as<Unary>()) {
      const bool asks =
          is_of_entries(unary->function) || (divides && unary->function == ElementFunction::Neg);
      visit(unary->value, fixes || asks, divides);
    } else if (const auto* choose = expr.as<Choose>()) {
      visit(choose->condition, false, false);
      if (!questions_.counts(choose->condition)) visit(choose->yes, fixes, divides);
      visit(choose->no, fixes, divides);
    } else if (const auto* binary = expr.as<Binary>()) {
      visit_binary(*binary, fixes, divides);
    } else {
      for (const Expr& child : children(expr)) visit(child, fixes, divides);
    }
  }

 private:
  bool is_infinite(const Expr& expr) const {
    return may_be_infinite(expr, questions_.is_unbounded);
  }

  void visit_binary(const Binary& binary, bool fixes, bool divides) const {
    switch (binary.op) {
      case BinaryOp::Add:
      case BinaryOp::Sub: {
        // A literal operand always gives a value.
        const bool alone = !binary.a.as<Literal>() && !binary.b.as<Literal>();
        const bool signs = divides && binary.op == BinaryOp::Sub;
        visit(binary.a, alone && (fixes || signs), alone && divides);
        return visit(binary.b, alone && (fixes || signs), alone && divides);
      }
      case BinaryOp::Mul:
        visit(binary.a, fixes || divides || is_infinite(binary.b), divides);
        return visit(binary.b, fixes || divides || is_infinite(binary.a), divides);
      case BinaryOp::Div:
        visit(binary.a, true, divides);
        return visit(binary.b, fixes, true);
      case BinaryOp::Within:
        visit(binary.a, true, false);
        return visit(binary.b, fixes, divides);
      default:
        visit(binary.a, fixes, divides);
        return visit(binary.b, fixes, divides);
    }
  }

  const AbsenceQuestions& questions_;
  const std::function<void(const Expr& leaf)>& told_;
};

}  // namespace

void find_told(const Expr& expr, const AbsenceQuestions& questions, bool fixes,
               const std::function<void(const Expr& leaf)>& told) {
  Telling(questions, told).visit(expr, fixes, false);
}

}  // namespace tulle::expr
