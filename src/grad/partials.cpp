// Differentiation of expressions.
#include "grad/partials.h"

#include <iterator>

#include "grad/build.h"
#include "grad/element_derivatives.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::grad {

using expr::Access;
using expr::Binary;
using expr::BinaryOp;
using expr::Choose;
using expr::ElementFunction;
using expr::Expr;
using expr::Reduce;
using expr::Reduction;
using expr::Unary;

namespace {

using Partials = std::vector<Partial>;

class Differentiation {
 public:
  explicit Differentiation(const std::function<bool(const Access&)>& is_active)
      : is_active_(is_active) {}

  // The factors of an expression come before those of its parts.
  Partials of(const Expr& value, const Expr& at_hand = {}) const {
    if (const auto* access = value.as<Access>()) {
      return is_active_(*access) ? Partials{{access}} : Partials{};
    }
    if (const auto* unary = value.as<Unary>()) {
      const Expr factor = element_derivative(unary->function, unary->value, at_hand);
      return factor ? times(factor, of(unary->value)) : Partials{};
    }
    if (const auto* choose = value.as<Choose>()) {
      const Expr& condition = choose->condition;
      const Expr yes = where(condition, number(1), number(0));
      const Expr no = where(condition, number(0), number(1));
      if (mutant("branches-swapped")) {
        return joined(times(no, of(choose->yes)), times(yes, of(choose->no)));
      }
      return joined(times(yes, of(choose->yes)), times(no, of(choose->no)));
    }
    if (const auto* reduce = value.as<Reduce>()) {
      TULLE_CHECK(reduce->op == Reduction::Sum);
      Partials found = of(reduce->body);
      for (Partial& partial : found) {
        partial.summed.insert(partial.summed.begin(), reduce->indices.begin(),
                              reduce->indices.end());
      }
      return found;
    }
    const auto* binary = value.as<Binary>();
    return binary ? of_binary(*binary) : Partials{};
  }

 private:
  Partials of_binary(const Binary& binary) const {
    const auto& [a, b] = std::pair(binary.a, binary.b);
    switch (binary.op) {
      case BinaryOp::Add:
        return joined(of(a), of(b));
      case BinaryOp::Sub:
        if (mutant("difference-as-sum")) return joined(of(a), of(b));
        return joined(of(a), times(number(-1), of(b)));
      case BinaryOp::Mul:
        if (mutant("product-rule-half")) return times(b, of(a));
        return joined(times(b, of(a)), times(a, of(b)));
      case BinaryOp::Div:
        if (mutant("quotient-without-square"))
          return joined(over(b, of(a)), over(b, times(negated(a), of(b))));
        return joined(over(b, of(a)), over(b, over(b, times(negated(a), of(b)))));
      case BinaryOp::Max:
        return joined(times(share_of_larger(a, b), of(a)), times(share_of_larger(b, a), of(b)));
      case BinaryOp::Min:
        if (mutant("smaller-of-two-as-larger"))
          return joined(times(share_of_larger(a, b), of(a)), times(share_of_larger(b, a), of(b)));
        return joined(times(share_of_larger(b, a), of(a)), times(share_of_larger(a, b), of(b)));
      case BinaryOp::Within:
        if (mutant("mask-ignored")) return of(b);
        return times(apply(ElementFunction::Ones, a), of(b));
    }
    return {};
  }

  // 1 where a > b, 0 where a < b, and a half where they tie.
  static Expr share_of_larger(const Expr& a, const Expr& b) {
    const Expr sign = apply(ElementFunction::Sign, a - b);
    if (mutant("ties-to-both"))
      return apply(ElementFunction::Ceil, (number(1) + sign) * number(0.5));
    return (number(1) + sign) * number(0.5);
  }

  static Partials times(const Expr& factor, Partials found) {
    for (Partial& partial : found) partial.factors.insert(partial.factors.begin(), factor);
    return found;
  }

  static Partials over(const Expr& divisor, Partials found) {
    for (Partial& partial : found) partial.divisors.insert(partial.divisors.begin(), divisor);
    return found;
  }

  static Partials joined(Partials some, Partials others) {
    some.insert(some.end(), std::make_move_iterator(others.begin()),
                std::make_move_iterator(others.end()));
    return some;
  }

  const std::function<bool(const Access&)>& is_active_;
};

}  // namespace

std::vector<Partial> partials(const Expr& value,
                              const std::function<bool(const Access&)>& is_active,
                              const Expr& at_hand) {
  return Differentiation(is_active).of(value, at_hand);
}

}  // namespace tulle::grad
