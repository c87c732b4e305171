// Changes the types of nodes.
#include "expr/widen_halves.h"

#include <algorithm>

#include "support/half.h"

namespace tulle::expr {

namespace {

Expr with_type(const Expr& expr, DType type) {
  switch (expr->kind) {
#define X(name)                                              \
  case ExprKind::name: {                                     \
    name changed = *expr.as<name>();                         \
    changed.type = type;                                     \
    return std::make_shared<const name>(std::move(changed)); \
  }
    TULLE_EXPR_NODES(X)
#undef X
  }
  return expr;
}

// Gives each access the current type of its tensor.
Expr with_access_types(const Expr& expr, const std::map<std::string, TensorType>& tensors) {
  if (const auto* access = expr.as<Access>()) {
    const DType type = tensors.at(access->tensor).type;
    return type == access->type ? expr : with_type(expr, type);
  }
  return with_children(expr, [&](const Expr& child) { return with_access_types(child, tensors); });
}

}  // namespace

Expr widen_halves(const Expr& value) {
  if (value.as<Access>()) return value;
  const Expr inside = with_children(value, [](const Expr& child) { return widen_halves(child); });
  return is_half(inside.type()) ? with_type(inside, DType::Float32) : inside;
}

void widen_halves(ResolvedProgram& program) {
  for (const Statement& statement : program.statements) {
    const bool is_result = std::find(program.results.begin(), program.results.end(),
                                     statement.tensor) != program.results.end();
    DType& type = program.tensors.at(statement.tensor).type;
    if (!is_result) type = compute_type(type);
  }
  for (Statement& statement : program.statements) {
    statement.value = with_access_types(widen_halves(statement.value), program.tensors);
  }
}

}  // namespace tulle::expr
