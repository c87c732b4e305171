// Adds a batch index to the tensors that have a batch.
#include "grad/batched.h"

#include "expr/walk.h"
#include "grad/names.h"

namespace tulle::grad {

using expr::Access;
using expr::Expr;
using expr::Statement;

namespace {

Expr with_index(const Expr& expr, const std::set<std::string>& wide, const std::string& index) {
  if (const auto* access = expr.as<Access>()) {
    if (!wide.contains(access->tensor)) return expr;
    Access changed = *access;
    changed.indices.push_back(index);
    return std::make_shared<const Access>(std::move(changed));
  }
  return expr::with_children(expr,
                             [&](const Expr& child) { return with_index(child, wide, index); });
}

bool reads(const Expr& expr, const std::set<std::string>& tensors) {
  return expr::any_part(expr, [&](const Expr& part) {
    const auto* access = part.as<Access>();
    return access && tensors.contains(access->tensor);
  });
}

}  // namespace

std::vector<Statement> batched(const expr::ResolvedProgram& program,
                               const std::set<std::string>& wide) {
  std::set<std::string> has_batch = wide;
  const std::string index = Names(program).fresh("batch");
  std::vector<Statement> statements = program.statements;
  for (Statement& statement : statements) {
    if (!reads(statement.value, has_batch)) continue;
    statement.value = with_index(statement.value, has_batch, index);
    statement.indices.push_back(index);
    has_batch.insert(statement.tensor);
  }
  return statements;
}

}  // namespace tulle::grad
