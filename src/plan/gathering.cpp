// Choosing where reductions are gathered.
#include "plan/gathering.h"

#include <algorithm>
#include <set>

#include "expr/absence.h"
#include "expr/walk.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::plan {

using expr::Binary;
using expr::BinaryOp;
using expr::Expr;
using expr::Reduce;
using expr::Reduction;

namespace {

bool may_be_infinite(const Expr& expr, const Tensors& tensors) {
  return expr::may_be_infinite(
      expr, [&](const std::string& tensor) { return tensors.at(tensor).unbounded; });
}

// Whether the expression says how many of something are there.
bool counts(const Expr& expr) {
  return expr::any_part(expr, [](const Expr& part) {
    const auto* unary = part.as<expr::Unary>();
    return unary && unary->function == expr::ElementFunction::Ones;
  });
}

// Whether it matters that a sum in the expression may be absent rather than 0. `chosen` says that
// a choice by a count has ruled that out.
bool asks_for_absence(const Expr& expr, const Tensors& tensors, bool fixes, bool chosen) {
  if (const auto* reduce = expr.as<Reduce>()) {
    return fixes && !chosen && reduce->op == Reduction::Sum;
  }
  if (const auto* unary = expr.as<expr::Unary>()) {
    const bool ones = unary->function == expr::ElementFunction::Ones;
    return asks_for_absence(unary->value, tensors, fixes || ones, chosen);
  }
  if (const auto* choose = expr.as<expr::Choose>()) {
    const bool counted = counts(choose->condition);
    return asks_for_absence(choose->condition, tensors, false, chosen) ||
           asks_for_absence(choose->yes, tensors, fixes, chosen || counted) ||
           asks_for_absence(choose->no, tensors, fixes, chosen);
  }
  const auto* binary = expr.as<Binary>();
  if (!binary) return false;
  const bool adds = binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub;
  // With a number there is a value.
  if (adds && (binary->a.as<expr::Literal>() || binary->b.as<expr::Literal>())) fixes = false;
  const bool product = binary->op == BinaryOp::Mul;
  const bool first = binary->op == BinaryOp::Div || binary->op == BinaryOp::Within ||
                     (product && may_be_infinite(binary->b, tensors));
  return asks_for_absence(binary->a, tensors, fixes || first, chosen) ||
         asks_for_absence(binary->b, tensors,
                          fixes || (product && may_be_infinite(binary->a, tensors)), chosen);
}

void collect_topmost(const Expr& expr, std::vector<const Reduce*>& found) {
  if (const auto* reduce = expr.as<Reduce>()) {
    found.push_back(reduce);
    return;
  }
  for (const Expr& child : expr::children(expr)) collect_topmost(child, found);
}

}  // namespace

bool tells_absence(const expr::Statement& statement, const Tensors& tensors) {
  return asks_for_absence(statement.value, tensors, false, false);
}

bool is_exact_in_any_order(const expr::Statement& statement, DType type) {
  const auto* reduce = statement.value.as<Reduce>();
  return !is_float(type) || (reduce && nest::is_exact(monoid_of(*reduce)));
}

std::vector<const Reduce*> topmost_reductions(const Expr& expr) {
  std::vector<const Reduce*> found;
  collect_topmost(expr, found);
  return found;
}

nest::Monoid monoid_of(const Reduce& reduce) {
  switch (reduce.op) {
    case Reduction::Sum:
      return nest::Monoid::Sum;
    case Reduction::Prod:
      return nest::Monoid::Prod;
    case Reduction::Max:
      return nest::Monoid::Max;
    case Reduction::Min:
      return nest::Monoid::Min;
    case Reduction::ArgMax:
    case Reduction::ArgMin:
      return nest::Monoid::Pick;
    case Reduction::ExpSum:
      return nest::Monoid::Scaled;
    default:
      internal_error("'", expr::text_of(reduce.op), "' was not expanded");
  }
}

Expr term_of(const Reduce& reduce) {
  if (reduce.op == Reduction::ExpSum) return reduce.body.as<Binary>()->b;
  if (monoid_of(reduce) != nest::Monoid::Pick) return reduce.body;
  const Expr coordinate = expr::IndexValue::make(reduce.indices[0], false);
  return Binary::make(BinaryOp::Within, reduce.body, coordinate, DType::Int64);
}

Expr lead_of(const Reduce& reduce) {
  if (!nest::has_lead(monoid_of(reduce))) return {};
  const auto* within = reduce.body.as<Binary>();
  const bool scaled = reduce.op == Reduction::ExpSum;
  TULLE_CHECK(!scaled || (within && within->op == BinaryOp::Within), "what an expsum reduces");
  const Expr& body = scaled ? within->a : reduce.body;
  const Reduction op = reduce.op == Reduction::ArgMin ? Reduction::Min : Reduction::Max;
  return Reduce::make(op, reduce.indices, body, true, std::nullopt,
                      scaled ? reduce.type : compute_type(body.type()));
}

Gathering gathering_of(const expr::Statement& statement, const Tensors& tensors) {
  const bool is_dense = tensors.at(statement.tensor).format.is_dense();
  const auto* whole = statement.value.as<Reduce>();
  const bool alone = whole && !lead_of(*whole);
  if (alone && (is_dense || whole->op == Reduction::Sum)) return Gathering::Result;
  const std::vector<const Reduce*> reductions = topmost_reductions(statement.value);
  if (reductions.empty()) return Gathering::Nothing;
  auto indices = [](const Reduce* reduce) {
    return std::set<std::string>(reduce->indices.begin(), reduce->indices.end());
  };
  const bool same = std::all_of(reductions.begin(), reductions.end(), [&](const Reduce* reduce) {
    return indices(reduce) == indices(reductions[0]);
  });
  if (!is_dense || !same || tells_absence(statement, tensors)) {
    return Gathering::Scalars;
  }
  return Gathering::Tuple;
}

std::vector<std::string> gathered_indices(const expr::Statement& statement,
                                          const Tensors& tensors) {
  const Gathering gathering = gathering_of(statement, tensors);
  if (gathering != Gathering::Result && gathering != Gathering::Tuple) return {};
  return topmost_reductions(statement.value)[0]->indices;
}

}  // namespace tulle::plan
