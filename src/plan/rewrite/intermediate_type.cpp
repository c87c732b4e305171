// Decides whether a statement distinguishes absence from 0.
#include "plan/rewrite/intermediate_type.h"

#include "expr/absence.h"
#include "expr/padding.h"
#include "expr/result_format.h"
#include "expr/walk.h"

namespace tulle::plan {

namespace {

using Tensors = std::map<std::string, expr::TensorType>;

bool may_be_infinite(const expr::Expr& expr, const Tensors& tensors) {
  return expr::may_be_infinite(
      expr, [&](const std::string& tensor) { return tensors.at(tensor).unbounded; });
}

// Whether some part of the expression distinguishes absent values from 0.
bool asks_for_absence(const expr::Expr& expr, const Tensors& tensors) {
  return may_be_infinite(expr, tensors) || expr::any_part(expr, [](const expr::Expr& part) {
           const auto* binary = part.as<expr::Binary>();
           const auto* unary = part.as<expr::Unary>();
           return (binary && binary->op == expr::BinaryOp::Within) ||
                  (unary && is_of_entries(unary->function)) || part.as<expr::Softmax>();
         });
}

}  // namespace

expr::TensorType intermediate_type(const expr::Statement& statement, const expr::Statement& part,
                                   const Tensors& tensors) {
  const expr::TensorType& result = tensors.at(statement.tensor);
  expr::TensorType type{part.value.type(), result.index_type, expr::result_format(part, tensors),
                        may_be_infinite(part.value, tensors)};
  const expr::Expr rest = expr::without(part.value, [&](const expr::Access& access) {
    return !tensors.at(access.tensor).format.is_dense();
  });
  // If the statement distinguishes empty sums, the format of the intermediate must too: no more
  // padding, and stored zeros are values.
  const bool asks = !result.format.is_dense() || asks_for_absence(statement.value, tensors);
  const int rank = static_cast<int>(part.indices.size());
  if (asks && rank > 0 && expr::is_absent(rest) && expr::adds_padding(part, tensors, type.format)) {
    type.format = Format::csf(rank);
  } else if (asks && expr::is_zero(rest) && !expr::is_absent(rest)) {
    type.format = Format::dense(rank);
  }
  return type;
}

}  // namespace tulle::plan
