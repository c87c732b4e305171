// Where implicit sums go.
#include "expr/implicit_sums.h"

#include <algorithm>

#include "expr/print.h"
#include "support/check.h"

namespace tulle::expr {

namespace {

using Indices = std::vector<std::string>;

bool contains(const Indices& indices, const std::string& index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

Indices both(const Indices& a, const Indices& b) {
  Indices result;
  std::copy_if(a.begin(), a.end(), std::back_inserter(result),
               [&](const std::string& index) { return contains(b, index); });
  return result;
}

Indices minus(const Indices& a, const Indices& b) {
  Indices result;
  std::copy_if(a.begin(), a.end(), std::back_inserter(result),
               [&](const std::string& index) { return !contains(b, index); });
  return result;
}

std::string text_of(const Indices& indices) {
  std::string text;
  for (const std::string& index : indices) text += (text.empty() ? "" : ",") + index;
  return indices.size() == 1 ? text : concat("(", text, ")");
}

class SumInserter {
 public:
  explicit SumInserter(const Statement& statement) : statement_(statement) {}

  // `expr` with the indices of `wanted` that are free in it summed.
  Expr insert(const Expr& expr, const Indices& wanted) const {
    const Indices here = both(free_indices(expr), wanted);
    if (here.empty()) return expr;
    if (expr.as<Access>() != nullptr) return summed(here, expr);
    if (const auto* unary = expr.as<Unary>();
        unary != nullptr && unary->function != ElementFunction::Neg) {
      fail_inside(*unary, here);
    }
    if (const auto* binary = expr.as<Binary>();
        binary != nullptr && (binary->op == BinaryOp::Mul || binary->op == BinaryOp::Div)) {
      return insert_in_product(expr, *binary, here);
    }
    return with_children(expr, [&](const Expr& child) { return insert(child, here); });
  }

 private:
  static Expr summed(const Indices& indices, const Expr& expr) {
    return placed(Reduce::make(indices, expr), {.all = expr->place.all});
  }

  // What both sides use is summed around the product, the rest inside the side that uses it.
  Expr insert_in_product(const Expr& expr, const Binary& binary, const Indices& wanted) const {
    const Indices shared = both(both(wanted, free_indices(binary.a)), free_indices(binary.b));
    const Indices rest = minus(wanted, shared);
    const Indices below = both(rest, free_indices(binary.b));
    if (binary.op == BinaryOp::Div && !below.empty()) fail_below(binary, below);
    const Expr product =
        with_children(expr, [&](const Expr& child) { return insert(child, rest); });
    return shared.empty() ? product : summed(shared, product);
  }

  [[noreturn]] void fail_inside(const Unary& unary, const Indices& indices) const {
    const std::string name(expr::text_of(unary.function));
    const std::string value = to_string(unary.value);
    const std::string sum = concat("sum(", text_of(indices), ", ");
    fail_in(
        statement_, &unary,
        concat("'", name, "' is not linear, so where to sum over ", text_of(indices),
               " must be said: ", name, "(", sum, value, ")) or ", sum, name, "(", value, "))"));
  }

  [[noreturn]] void fail_below(const Binary& quotient, const Indices& indices) const {
    const std::string sum = concat("sum(", text_of(indices), ", ");
    const Expr summed = Reduce::make(indices, quotient.b);
    const Expr inside = Binary::make(quotient.op, quotient.a, summed);
    const Expr around = Binary::make(quotient.op, quotient.a, quotient.b);
    fail_in(statement_, quotient.b.get(),
            concat("division is not linear in what it divides by, so where to sum over ",
                   text_of(indices), " must be said: ", to_string(inside), " or ", sum,
                   to_string(around), ")"));
  }

  const Statement& statement_;
};

// Explicit sums: over indices that their body has, that are not on the left and not bound around
// them.
void check_sums(const Statement& statement, const Expr& expr, Indices& bound) {
  if (const auto* unary = expr.as<Unary>()) check_sums(statement, unary->value, bound);
  if (const auto* binary = expr.as<Binary>()) {
    check_sums(statement, binary->a, bound);
    check_sums(statement, binary->b, bound);
  }
  const auto* reduce = expr.as<Reduce>();
  if (reduce == nullptr) return;
  const Indices used = free_indices(reduce->body);
  for (size_t at = 0; at < reduce->indices.size(); ++at) {
    const std::string& index = reduce->indices[at];
    if (!contains(used, index)) {
      fail_at_index(statement, reduce, at,
                    concat("the sum is over '", index, "', which stands nowhere in it, so ",
                           "nothing tells how often to add; use it inside or leave it out"));
    }
    if (contains(statement.indices, index)) {
      fail_at_index(statement, reduce, at,
                    concat("'", index, "' is summed here, but it stands on the left too; ",
                           "rename one of the two"));
    }
    if (contains(bound, index)) {
      fail_at_index(statement, reduce, at,
                    concat("'", index, "' is summed here and around here; rename one"));
    }
  }
  bound.insert(bound.end(), reduce->indices.begin(), reduce->indices.end());
  check_sums(statement, reduce->body, bound);
  bound.resize(bound.size() - reduce->indices.size());
}

}  // namespace

Statement insert_sums(const Statement& statement) {
  const Indices wanted = minus(free_indices(statement.value), statement.indices);
  Indices bound;
  check_sums(statement, statement.value, bound);
  Statement result = statement;
  result.value = SumInserter(statement).insert(statement.value, wanted);
  check_sums(result, result.value, bound);
  return result;
}

}  // namespace tulle::expr
