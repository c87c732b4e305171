// Chooses where reductions are gathered.
#include "plan/rewrite/gathering.h"

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

// Whether the expression counts entries.
bool counts(const Expr& expr) {
  return expr::any_part(expr, [](const Expr& part) {
    const auto* unary = part.as<expr::Unary>();
    return unary && unary->function == expr::ElementFunction::Ones;
  });
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
  bool found = false;
  const expr::AbsenceQuestions questions{
      [&](const std::string& tensor) { return tensors.at(tensor).unbounded; }, counts};
  expr::find_told(statement.value, questions, false, [&](const Expr& leaf) {
    const auto* reduce = leaf.as<Reduce>();
    found |= reduce && reduce->op == Reduction::Sum;
  });
  return found;
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

nest::Monoid monoid_of(const Reduce& reduce) { return monoid_of(reduce.op); }

nest::Monoid monoid_of(expr::Reduction op) {
  switch (op) {
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
      internal_error("'", expr::text_of(op), "' was not expanded");
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
