// Expands reductions.
#include "plan/rewrite/expand_reductions.h"

#include "expr/presence.h"
#include "expr/walk.h"
#include "support/check.h"
#include "support/half.h"
#include "support/mutant.h"

namespace tulle::plan {

using expr::Binary;
using expr::BinaryOp;
using expr::Choose;
using expr::Expr;
using expr::IndexValue;
using expr::Literal;
using expr::Reduce;
using expr::Reduction;
using expr::Unary;

namespace {

class Expander {
 public:
  // At the node `zeroed`, absent and 0 are equivalent.
  Expander(const std::function<bool(const std::string&)>& is_sparse, const expr::ExprNode* zeroed)
      : is_sparse_(is_sparse), zeroed_(zeroed) {}

  Expr expand(const Expr& expr) const { return expand(expr, expr.get() == zeroed_); }

 private:
  // `zeroed`: absent and 0 are equivalent here.
  Expr expand(const Expr& expr, bool zeroed) const {
    if (const Reduce* sum = zeroed ? counted_sum(expr) : nullptr) {
      const Expr zero = Literal::make(0, true, expr.type());
      return Choose::make(count(*sum), expand_children(expr, false), zero, expr.type());
    }
    return expand_children(expr, zeroed && tells_nothing(expr));
  }

  Expr expand_children(const Expr& expr, bool zeroed) const {
    const Expr inside =
        expr::with_children(expr, [&](const Expr& child) { return expand(child, zeroed); });
    const auto* reduce = inside.as<Reduce>();
    return reduce ? expand_reduce(with_zeros(*reduce), expr.get() == zeroed_) : inside;
  }

  // An inner reduction without coordinates is absent. The outer reduction over the extent must see
  // a 0 instead.
  Reduce with_zeros(Reduce reduce) const {
    const bool is_sum = reduce.op == Reduction::Sum || reduce.op == Reduction::Mean;
    if (is_sum || reduce.stored || !expr::has_reduction(reduce.body) || !is_everywhere(reduce.body))
      return reduce;
    reduce.body = with_zero(reduce.body);
    return reduce;
  }

  // Whether the value is the same for absent operands and for 0.
  static bool tells_nothing(const Expr& expr) {
    if (const auto* unary = expr.as<Unary>()) return !is_of_entries(unary->function);
    const auto* binary = expr.as<Binary>();
    return binary && (binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub ||
                      binary->op == BinaryOp::Max || binary->op == BinaryOp::Min);
  }

  // For a quotient that is absent exactly if a sum in its numerator is absent: that sum. Only if
  // counting its terms is cheap compared with adding them up, as all sums of a row have one count.
  const Reduce* counted_sum(const Expr& expr) const {
    bool divides = false;
    Expr part = expr;
    for (const auto* binary = part.as<Binary>(); binary; binary = part.as<Binary>()) {
      const bool quotient = binary->op == BinaryOp::Div;
      if (!quotient && binary->op != BinaryOp::Mul) return nullptr;
      divides |= quotient;
      const bool first = quotient || expr::has_reduction(binary->a);
      if (!is_everywhere(first ? binary->b : binary->a)) return nullptr;
      part = first ? binary->a : binary->b;
    }
    const auto* sum = part.as<Reduce>();
    if (!divides || !sum || sum->op != Reduction::Sum || sum->stored || is_everywhere(sum->body) ||
        expr::has_reduction(sum->body))
      return nullptr;
    const size_t counts = expr::free_indices(count(*sum)).size();
    return counts > 0 && counts < expr::free_indices(part).size() ? sum : nullptr;
  }

  Expr expand_reduce(const Reduce& reduce, bool zeroed) const {
    switch (reduce.op) {
      case Reduction::Sum:
        return with_empty(reduce, terms(reduce, Reduction::Sum), zeroed);
      case Reduction::Prod:
      case Reduction::Max:
      case Reduction::Min:
        return with_empty(reduce, with_missing(reduce, terms(reduce, reduce.op)), zeroed);
      case Reduction::Mean:
        return with_empty(reduce, mean(reduce), zeroed);
      case Reduction::LogSumExp:
        return with_empty(reduce, log_sum_exp(reduce), zeroed);
      case Reduction::ArgMax:
      case Reduction::ArgMin:
        return with_empty(reduce, place(reduce), zeroed);
      case Reduction::ExpSum:
        return std::make_shared<const Reduce>(reduce);
    }
    internal_error("unknown reduction");
  }

  static Expr literal(double value, DType type) { return Literal::make(value, true, type); }
  static Expr with_zero(const Expr& value) {
    const DType type = compute_type(value.type());
    return Binary::make(BinaryOp::Add, value, literal(0, type), type);
  }
  static Expr apply(expr::ElementFunction function, const Expr& value) {
    return Unary::make(function, value, value.type());
  }

  // log(sum(exp(x - max))) + max, over the stored terms and then the missing ones.
  Expr log_sum_exp(const Reduce& reduce) const {
    using expr::ElementFunction;
    const DType type = reduce.type;
    const Expr top = terms(reduce, Reduction::Max);
    const Expr one = Binary::make(BinaryOp::Within, presence(reduce.body), literal(1, type), type);
    const Expr total = Reduce::make(Reduction::ExpSum, reduce.indices,
                                    Binary::make(BinaryOp::Within, reduce.body, one, type), true,
                                    std::nullopt, type);
    const Expr there = Binary::make(BinaryOp::Add, top, apply(ElementFunction::Log, total), type);
    if (reduce.stored || is_everywhere(reduce.body)) return there;
    // Each missing term adds exp(0).
    const Expr missing = Binary::make(BinaryOp::Sub, extent(reduce), count(reduce));
    const Expr all = Binary::make(BinaryOp::Max, top, literal(0, type), type);
    const Expr factor =
        apply(ElementFunction::Exp, Binary::make(BinaryOp::Min, top, literal(0, type), type));
    const Expr zeros = Binary::make(
        BinaryOp::Mul, missing,
        apply(ElementFunction::Exp, Unary::make(ElementFunction::Neg, all, type)), type);
    const Expr sum =
        Binary::make(BinaryOp::Add, Binary::make(BinaryOp::Mul, total, factor, type), zeros, type);
    return Choose::make(missing,
                        Binary::make(BinaryOp::Add, all, apply(ElementFunction::Log, sum), type),
                        there, type);
  }

  // The coordinate of the best value. An absent value counts as a 0 at its coordinate.
  Expr place(const Reduce& reduce) const {
    Expr body = reduce.body;
    if (!reduce.stored && !is_everywhere(body)) body = with_zero(body);
    return Reduce::make(reduce.op, reduce.indices, body, true, std::nullopt, reduce.type);
  }

  // The reduction over the stored terms.
  static Expr terms(const Reduce& reduce, Reduction op) {
    return Reduce::make(op, reduce.indices, reduce.body, op != Reduction::Sum, std::nullopt,
                        reduce.type);
  }

  bool is_everywhere(const Expr& expr) const { return expr::is_everywhere(expr, is_sparse_); }
  Expr presence(const Expr& expr) const { return expr::presence_of(expr, is_sparse_); }

  // A product of numbers of coordinates, in floating point because it may exceed 64 bits.
  static Expr times_extent(const Expr& number, const std::string& index) {
    return Binary::make(BinaryOp::Mul, number, IndexValue::make(index, true), DType::Float64);
  }

  // The number of coordinates that the reduction covers.
  static Expr extent(const Reduce& reduce) {
    Expr product;
    for (const std::string& index : reduce.indices)
      product = product ? times_extent(product, index) : IndexValue::make(index, true);
    return product;
  }

  // The number of coordinates with a value.
  Expr count(const Reduce& reduce) const {
    if (is_everywhere(reduce.body)) return extent(reduce);
    const Expr one = Unary::make(expr::ElementFunction::Ones, presence(reduce.body), DType::Int64);
    // The presence may lack some of the indices.
    Expr total = one;
    std::vector<std::string> counted, multiplied;
    const std::vector<std::string> free = expr::free_indices(one);
    for (const std::string& index : reduce.indices) {
      const bool has = std::find(free.begin(), free.end(), index) != free.end();
      (has ? counted : multiplied).push_back(index);
    }
    if (!counted.empty()) total = Reduce::make(counted, one);
    for (const std::string& index : multiplied) total = times_extent(total, index);
    return total;
  }

  // Replaces absent terms by zeros in reductions over the whole extent.
  Expr with_missing(const Reduce& reduce, const Expr& terms) const {
    if (reduce.stored || is_everywhere(reduce.body) || mutant("extent-ignores-zeros")) return terms;
    const Expr missing = Binary::make(BinaryOp::Sub, extent(reduce), count(reduce));
    const Expr zero = Literal::make(0, true, reduce.type);
    if (reduce.op == Reduction::Prod) return Choose::make(missing, zero, terms, reduce.type);
    const BinaryOp op = reduce.op == Reduction::Max ? BinaryOp::Max : BinaryOp::Min;
    return Choose::make(missing, Binary::make(op, terms, zero, reduce.type), terms, reduce.type);
  }

  Expr mean(const Reduce& reduce) const {
    const Expr total = terms(reduce, Reduction::Sum);
    if (reduce.stored) return Binary::make(BinaryOp::Div, total, count(reduce), reduce.type);
    // An empty sum is absent. Adding 0 makes it a value.
    const Expr value =
        Binary::make(BinaryOp::Add, total, Literal::make(0, true, reduce.type), reduce.type);
    return Binary::make(BinaryOp::Div, value, extent(reduce), reduce.type);
  }

  Expr with_empty(const Reduce& reduce, const Expr& value, bool zeroed) const {
    const bool may_be_absent = expr::is_absent_over_nothing(reduce);
    if (reduce.op == Reduction::Sum && may_be_absent) return value;
    if (!reduce.empty && !may_be_absent) return value;
    if (mutant("empty-ignored")) return value;
    const Expr seen = reduce.stored ? count(reduce) : extent(reduce);
    const double empty = reduce.empty.value_or(0);
    const bool whole = empty == static_cast<double>(static_cast<int64_t>(empty));
    const Expr seen_or_empty =
        Choose::make(seen, value, Literal::make(empty, whole, reduce.type), reduce.type);
    if (may_be_absent && reduce.stored && !zeroed) {
      // A scalar count is 0, not absent, so it cannot be a mask.
      const bool masks = !expr::free_indices(seen).empty();
      const Expr mask = masks ? seen : terms(reduce, Reduction::Sum);
      if (!expr::free_indices(mask).empty()) {
        return Binary::make(BinaryOp::Within, mask, masks ? value : seen_or_empty, reduce.type);
      }
    }
    return seen_or_empty;
  }

  const std::function<bool(const std::string&)>& is_sparse_;
  const expr::ExprNode* zeroed_;
};

}  // namespace

expr::Statement expand_reductions(const expr::Statement& statement,
                                  const std::function<bool(const std::string& tensor)>& is_sparse,
                                  bool is_dense) {
  expr::Statement expanded = statement;
  expanded.value =
      Expander(is_sparse, is_dense ? statement.value.get() : nullptr).expand(statement.value);
  return expanded;
}

}  // namespace tulle::plan
