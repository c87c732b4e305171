// Placement of implicit sums.
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

  // Sums `expr` over those indices of `wanted` that are free in it.
  Expr insert(const Expr& expr, const Indices& wanted) const {
    const Indices here = both(free_indices(expr), wanted);
    if (here.empty()) return expr;
    if (expr.as<Access>() != nullptr) return summed(here, expr);
    if (const auto* unary = expr.as<Unary>();
        unary != nullptr && unary->function != ElementFunction::Neg) {
      fail_inside(expr, text_of(unary->function), unary->value, here);
    }
    if (const auto* reduce = expr.as<Reduce>(); reduce && reduce->op != Reduction::Sum) {
      fail_in_reduction(*reduce, here);
    }
    if (const auto* softmax = expr.as<Softmax>()) {
      const Indices others = minus(here, {softmax->index});
      if (!others.empty()) fail_in_softmax(*softmax, others);
      return summed(here, expr);
    }
    if (const auto* choose = expr.as<Choose>()) {
      if (const Indices tested = both(here, free_indices(choose->condition)); !tested.empty()) {
        fail_inside(choose->condition, "where", choose->condition, tested, ", ..., ...");
      }
    }
    if (const auto* binary = expr.as<Binary>()) {
      if (binary->op == BinaryOp::Max || binary->op == BinaryOp::Min) {
        const bool first = !both(here, free_indices(binary->a)).empty();
        const Expr& side = first ? binary->a : binary->b;
        fail_inside(side, text_of(binary->op), side, both(here, free_indices(side)), ", ...");
      }
      if (binary->op != BinaryOp::Add && binary->op != BinaryOp::Sub) {
        return insert_in_product(expr, *binary, here);
      }
    }
    return with_children(expr, [&](const Expr& child) { return insert(child, here); });
  }

 private:
  static Expr summed(const Indices& indices, const Expr& expr) {
    return placed(Reduce::make(indices, expr), {.all = expr->place.all});
  }

  // Sums indices that both sides use around the product, all others inside the side that uses them.
  Expr insert_in_product(const Expr& expr, const Binary& binary, const Indices& wanted) const {
    // Within is linear in its second operand only.
    const Indices first = both(wanted, free_indices(binary.a));
    const Indices shared =
        binary.op == BinaryOp::Within ? first : both(first, free_indices(binary.b));
    const Indices rest = minus(wanted, shared);
    const Indices below = both(rest, free_indices(binary.b));
    if (binary.op == BinaryOp::Div && !below.empty()) fail_below(binary, below);
    const Expr product =
        with_children(expr, [&](const Expr& child) { return insert(child, rest); });
    return shared.empty() ? product : summed(shared, product);
  }

  // The argument with the sums that it would get outside a function, so that terms without the
  // indices are added once.
  std::string summed_inside(const Expr& argument, const Indices& indices) const {
    try {
      return to_string(insert(argument, indices));
    } catch (const UserError&) {  // the argument is not linear either
      return to_string(summed(indices, argument));
    }
  }

  // `others`: the text of the arguments after the one that sums.
  [[noreturn]] void fail_inside(const Expr& at, std::string_view name, const Expr& argument,
                                const Indices& indices, std::string_view others = "") const {
    const std::string value = to_string(argument);
    const std::string sum = concat("sum(", text_of(indices), ", ");
    fail_in(statement_, at.get(),
            concat("'", name, "' is not linear, so the sum over ", text_of(indices),
                   " must be explicit: ", name, "(", summed_inside(argument, indices), others,
                   ") or ", sum, name, "(", value, others, "))"));
  }

  [[noreturn]] void fail_in_softmax(const Softmax& softmax, const Indices& indices) const {
    Softmax inside = softmax;
    const auto* masked = softmax.body.as<Binary>();
    inside.body = masked && masked->op == BinaryOp::Within
                      ? Binary::make(BinaryOp::Within, masked->a, summed(indices, masked->b))
                      : summed(indices, softmax.body);
    const Expr around = summed(indices, std::make_shared<const Softmax>(softmax));
    fail_in(statement_, &softmax,
            concat("'softmax' is not linear, so the sum over ", text_of(indices),
                   " must be explicit: ", to_string(std::make_shared<const Softmax>(inside)),
                   " or ", to_string(around)));
  }

  [[noreturn]] void fail_in_reduction(const Reduce& reduce, const Indices& indices) const {
    fail_in(
        statement_, &reduce,
        concat("'", expr::text_of(reduce.op), "' is not linear, so the sum over ", text_of(indices),
               " must be explicit: write sum(", text_of(indices), ", ...) around it or inside"));
  }

  [[noreturn]] void fail_below(const Binary& quotient, const Indices& indices) const {
    const std::string sum = concat("sum(", text_of(indices), ", ");
    const Expr summed = Reduce::make(indices, quotient.b);
    const Expr inside = Binary::make(quotient.op, quotient.a, summed);
    const Expr around = Binary::make(quotient.op, quotient.a, quotient.b);
    fail_in(statement_, quotient.b.get(),
            concat("division is not linear in its divisor, so the sum over ", text_of(indices),
                   " must be explicit: ", to_string(inside), " or ", sum, to_string(around), ")"));
  }

  const Statement& statement_;
};

// Checks explicit sums: their indices occur in the body, not on the left and not in an enclosing
// reduction.
void check_sums(const Statement& statement, const Expr& expr, Indices& bound) {
  const auto* reduce = expr.as<Reduce>();
  if (reduce == nullptr) {
    for (const Expr& child : children(expr)) check_sums(statement, child, bound);
    return;
  }
  const Indices used = free_indices(reduce->body);
  for (size_t at = 0; at < reduce->indices.size(); ++at) {
    const std::string& index = reduce->indices[at];
    if (!contains(used, index)) {
      fail_at_index(
          statement, reduce, at,
          concat("the ", reduce->op == Reduction::Sum ? "sum" : "reduction", " is over '", index,
                 "', which its argument does not use; ", "use it there or remove it"));
    }
    if (contains(statement.indices, index)) {
      fail_at_index(statement, reduce, at,
                    concat("'", index, "' is summed here, but it is also on the left; ",
                           "rename one of the two"));
    }
    if (contains(bound, index)) {
      fail_at_index(
          statement, reduce, at,
          concat("'", index, "' is summed here and by an enclosing reduction; rename one"));
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
