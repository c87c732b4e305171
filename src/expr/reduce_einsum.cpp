// Wraps the product of an einsum into a reduction.
#include "expr/reduce_einsum.h"

#include <algorithm>

#include "support/check.h"

namespace tulle::expr {

namespace {

Reduction reduction_of(std::string_view name) {
  if (name == "mean") return Reduction::Mean;
  if (name == "amax") return Reduction::Max;
  if (name == "amin") return Reduction::Min;
  if (name == "prod") return Reduction::Prod;
  user_error("reduce must be \"sum\", \"mean\", \"amax\", \"amin\" or \"prod\", but \"", name,
             "\" was given.");
}

}  // namespace

ParsedProgram reduce_einsum(ParsedProgram einsum, std::string_view reduce,
                            const std::function<bool(const std::string& tensor)>& is_sparse) {
  if (reduce.empty() || reduce == "sum") return einsum;
  const Reduction op = reduction_of(reduce);
  Statement& statement = einsum.statements.at(0);
  std::vector<std::string> indices = free_indices(statement.value);
  std::erase_if(indices, [&](const std::string& index) {
    const auto& left = statement.indices;
    return std::find(left.begin(), left.end(), index) != left.end();
  });
  if (indices.empty()) return einsum;
  // A product has a value where all its factors have one.
  Expr domain;
  for (const Access* access : accesses(statement.value)) {
    if (!is_sparse(access->tensor)) continue;
    const Expr one = std::make_shared<const Access>(*access);
    domain =
        domain ? placed(Binary::make(BinaryOp::Mul, domain, one), statement.value->place) : one;
  }
  Expr body = statement.value;
  if (domain) body = placed(Binary::make(BinaryOp::Within, domain, body), statement.value->place);
  Expr reduced = Reduce::make(op, std::move(indices), body, true, 0.0, DType::Float32);
  statement.value = placed(reduced, {.all = statement.value->place.all});
  return einsum;
}

}  // namespace tulle::expr
