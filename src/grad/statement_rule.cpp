// The rule of each statement; the rules of reductions.
#include "grad/statement_rule.h"

#include <utility>

#include "grad/build.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::grad {

using expr::BinaryOp;
using expr::ElementFunction;
using expr::Expr;
using expr::Reduce;
using expr::Reduction;
using expr::Softmax;
using expr::Statement;

namespace {

// The factors that lead from a reduction to its body.
class ReductionRule {
 public:
  ReductionRule(const Statement& statement, const Reduce& reduce, Names& names,
                std::vector<Statement>& needed)
      : statement_(statement),
        reduce_(reduce),
        body_(reduce.body),
        value_(access(statement.tensor, statement.indices)),
        names_(names),
        needed_(needed) {}

  // The derivative of the value towards the body at one coordinate; null if it is 0 everywhere.
  Expr factor() {
    switch (reduce_.op) {
      case Reduction::Sum:
        return number(1);
      case Reduction::Mean:
        return number(1) / term_count();
      case Reduction::Max:
      case Reduction::Min:
        return extremum();
      case Reduction::Prod:
        return product();
      case Reduction::LogSumExp:
        return apply(ElementFunction::Exp, body_ - value_);
      case Reduction::ArgMax:
      case Reduction::ArgMin:
        return {};
      case Reduction::ExpSum:
        break;
    }
    internal_error("a reduction of the compiler in a program to derive");
  }

 private:
  // The value over all reduced coordinates of the extent.
  Expr extents() const {
    Expr product = extent(reduce_.indices[0]);
    for (size_t at = 1; at < reduce_.indices.size(); ++at) {
      product = product * extent(reduce_.indices[at]);
    }
    return product;
  }

  // The sum of `value` over the coordinates at which the body has a value.
  Expr sum_over_terms(const Expr& value) const {
    return sum(reduce_.indices, within(body_, value));
  }

  // A tensor with one value for each value of the statement, computed first.
  Expr computed_first(const std::string& what, const Expr& value) {
    const std::string name = names_.fresh(concat(statement_.tensor, "_", what));
    needed_.push_back({name, statement_.indices, value});
    return access(name, statement_.indices);
  }

  Expr term_count() {
    if (!reduce_.stored || mutant("mean-of-stored-counts-all")) return extents();
    return computed_first("count", sum(reduce_.indices, apply(ElementFunction::Ones, body_)));
  }

  // 1 where the body is the extremum, else 0. The inner extremum of two keeps the difference from
  // being contracted with a product in the body, which would make it the product's rounding error.
  Expr is_extremum(const Expr& body) const {
    const bool is_max = reduce_.op == Reduction::Max || mutant("minimum-as-maximum");
    const Expr kept = is_max ? smaller(body, value_) : larger(body, value_);
    return number(1) - apply(ElementFunction::Abs, apply(ElementFunction::Sign, kept - value_));
  }

  // Ties share the derivative evenly. Over the extent, absent values tie with an extremum of 0.
  Expr extremum() {
    Expr ties = sum_over_terms(is_extremum(body_));
    if (!reduce_.stored && !mutant("absent-never-ties")) {
      const Expr absent = extents() - sum(reduce_.indices, apply(ElementFunction::Ones, body_));
      ties = ties + absent * (number(1) -
                              apply(ElementFunction::Abs, apply(ElementFunction::Sign, value_)));
    }
    const Expr all = computed_first("ties", ties);
    return is_extremum(body_) / all;
  }

  // The product of the other terms: of all that are not 0 if there is no 0 among the others.
  Expr product() {
    const Expr factor = where(body_, body_, number(1));
    const Expr others =
        computed_first("nonzero", Reduce::make(Reduction::Prod, reduce_.indices,
                                               within(body_, factor), true, 1, DType::Float32));
    const Expr zero_count = reduce_.stored
                                ? sum_over_terms(where(body_, number(0), number(1)))
                                : extents() - sum_over_terms(where(body_, number(1), number(0)));
    const Expr zeros = computed_first("zeros", zero_count);
    return where(
        body_, where(zeros, number(0), others / body_),
        mutant("single-zero-ignored") ? number(0) : where(zeros - number(1), number(0), others));
  }

  const Statement& statement_;
  const Reduce& reduce_;
  const Expr& body_;
  Expr value_;
  Names& names_;
  std::vector<Statement>& needed_;
};

}  // namespace

StatementRule rule_of(const Statement& statement, bool is_sparse,
                      const std::function<bool(const expr::Access&)>& is_active, Names& names) {
  StatementRule rule;
  const Expr* value = &statement.value;
  rule.softmax = value->as<Softmax>();
  if (rule.softmax) value = &rule.softmax->body;
  std::vector<Expr> around;  // factors of the masks around the value
  for (const auto* binary = value->as<expr::Binary>(); binary && binary->op == BinaryOp::Within;
       binary = value->as<expr::Binary>()) {
    if (!is_sparse && !mutant("mask-around-forgotten"))
      around.push_back(apply(ElementFunction::Ones, binary->a));
    value = &binary->b;
  }
  const auto* reduce = value->as<Reduce>();
  if (reduce && reduce->op != Reduction::Sum) {
    rule.partials = partials(reduce->body, is_active, {});
    Expr factor = rule.partials.empty()
                      ? Expr()
                      : ReductionRule(statement, *reduce, names, rule.needed).factor();
    if (factor && mutant(concat("factor-of-", text_of(reduce->op)))) factor = number(2) * factor;
    if (!factor) rule.partials.clear();
    for (Partial& partial : rule.partials) {
      partial.factors.insert(partial.factors.begin(), factor);
      partial.summed = reduce->indices;
    }
  } else {
    const Expr at_hand = rule.softmax ? Expr() : access(statement.tensor, statement.indices);
    rule.partials = partials(*value, is_active, at_hand);
  }
  for (Partial& partial : rule.partials) {
    partial.factors.insert(partial.factors.begin(), around.begin(), around.end());
  }
  return rule;
}

}  // namespace tulle::grad
