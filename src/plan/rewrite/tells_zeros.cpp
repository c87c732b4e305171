// Follows absent values to the places that distinguish them from 0.
#include "plan/rewrite/tells_zeros.h"

#include <algorithm>

#include "expr/absence.h"

namespace tulle::plan {

using expr::Binary;
using expr::BinaryOp;
using expr::Expr;

namespace {

class Teller {
 public:
  Teller(const std::function<bool(const expr::Access&)>& is_it,
         const std::function<bool(const std::string&)>& is_unbounded)
      : is_it_(is_it), is_unbounded_(is_unbounded) {}

  // `asked`: the context distinguishes an absent expression from 0.
  bool tells(const Expr& expr, bool asked) const {
    if (const auto* access = expr.as<expr::Access>()) return asked && is_it_(*access);
    if (const auto* binary = expr.as<Binary>()) return tells_binary(*binary, asked);
    if (const auto* unary = expr.as<expr::Unary>()) {
      const bool of_entries = is_of_entries(unary->function);
      return tells(unary->value, of_entries || (asked && keeps_zero(unary->function)));
    }
    const auto* reduce = expr.as<expr::Reduce>();
    const bool is_sum = reduce && reduce->op == expr::Reduction::Sum && !reduce->empty;
    const bool sees_stored = (reduce && !is_sum) || expr.as<expr::Softmax>();
    const std::vector<Expr> parts = expr::children(expr);
    return std::any_of(parts.begin(), parts.end(),
                       [&](const Expr& part) { return tells(part, asked || sees_stored); });
  }

 private:
  bool tells_binary(const Binary& binary, bool asked) const {
    switch (binary.op) {
      case BinaryOp::Mul:
        return tells(binary.a, asked || may_be_infinite(binary.b)) ||
               tells(binary.b, asked || may_be_infinite(binary.a));
      case BinaryOp::Div: {
        const auto* number = binary.b.as<expr::Literal>();
        const bool may_be_zero = !number || number->value == 0;
        return tells(binary.a, asked || may_be_zero) || tells(binary.b, false);
      }
      case BinaryOp::Within:
        return tells(binary.a, true) || tells(binary.b, false);
      default:
        return tells(binary.a, asked) || tells(binary.b, asked);
    }
  }

  bool may_be_infinite(const Expr& expr) const {
    return expr::may_be_infinite(expr, is_unbounded_);
  }

  const std::function<bool(const expr::Access&)>& is_it_;
  const std::function<bool(const std::string&)>& is_unbounded_;
};

}  // namespace

bool tells_zeros(const Expr& expr, const std::function<bool(const expr::Access&)>& is_it,
                 const std::function<bool(const std::string& tensor)>& is_unbounded) {
  return Teller(is_it, is_unbounded).tells(expr, false);
}

}  // namespace tulle::plan
