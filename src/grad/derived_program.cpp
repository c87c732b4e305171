// Assembling programs of derivatives.
#include "grad/derived_program.h"

#include <algorithm>

#include "expr/presence.h"
#include "expr/rename_indices.h"
#include "grad/build.h"
#include "support/check.h"

namespace tulle::grad {

using expr::Access;
using expr::Expr;
using expr::Statement;

namespace {

const Statement* statement_of(const expr::ResolvedProgram& program, const std::string& tensor) {
  const auto found = std::find_if(program.statements.begin(), program.statements.end(),
                                  [&](const Statement& one) { return one.tensor == tensor; });
  return found == program.statements.end() ? nullptr : &*found;
}

}  // namespace

bool DerivedProgram::is_float(const std::string& tensor) const {
  return tulle::is_float(type_of(tensor).type);
}

bool DerivedProgram::is_assigned(const std::string& tensor) const {
  return statement_of(normal_, tensor) != nullptr;
}

std::string DerivedProgram::add_operand(DerivativeRole role, const std::string& of) {
  constexpr std::string_view prefixes[] = {"", "part_", "", "grad_", "tangent_"};
  const std::string name = names_.fresh(concat(prefixes[static_cast<size_t>(role)], of));
  derivative_.operands.push_back({name, role, of});
  return name;
}

Expr DerivedProgram::pattern(const std::string& tensor,
                             const std::vector<std::string>& indices) const {
  if (!is_sparse(tensor)) return {};
  const Expr itself = access(tensor, indices);
  const Statement* statement = statement_of(normal_, tensor);
  if (!statement || contains(normal_.results, tensor)) return itself;
  const auto asks_sparse = [this](const std::string& name) { return is_sparse(name); };
  const auto* softmax = statement->value.as<expr::Softmax>();
  const Expr present = expr::presence_of(softmax ? softmax->body : statement->value, asks_sparse);
  const auto* source = present.as<Access>();
  if (!source || !contains_all(source->indices, statement->indices) ||
      source->indices.size() != statement->indices.size() || !is_sparse(source->tensor)) {
    return itself;
  }
  expr::Renames renames;
  for (size_t d = 0; d < indices.size(); ++d) renames[statement->indices[d]] = indices[d];
  return pattern(source->tensor, expr::renamed(source->indices, renames));
}

Expr DerivedProgram::in_pattern(const std::string& tensor, const std::vector<std::string>& indices,
                                const Expr& value) const {
  if (const Expr mask = pattern(tensor, indices)) return within(mask, value);
  if (contains_all(expr::free_indices(value), indices)) return value;
  return within(access(tensor, indices), value);
}

void DerivedProgram::use(const std::string& tensor) {
  if (!normal_.tensors.contains(tensor) || !used_.insert(tensor).second) return;
  const Statement* statement = statement_of(normal_, tensor);
  if (!statement) {
    derivative_.operands.push_back({tensor, DerivativeRole::Operand, tensor});
  } else if (contains(normal_.results, tensor)) {
    derivative_.operands.push_back({tensor, DerivativeRole::Result, tensor});
  } else {
    for (const Access* access : expr::accesses(statement->value)) use(access->tensor);
  }
}

void DerivedProgram::drop_unread() {
  std::set<std::string> read;
  for (const DerivativeResult& result : derivative_.results) read.insert(result.name);
  std::vector<Statement> kept;
  for (auto statement = added_.rbegin(); statement != added_.rend(); ++statement) {
    if (!read.contains(statement->tensor)) continue;
    for (const Access* access : expr::accesses(statement->value)) read.insert(access->tensor);
    kept.push_back(*statement);
  }
  added_.assign(kept.rbegin(), kept.rend());
}

DerivativeStatements DerivedProgram::finish() {
  drop_unread();
  // Operands that nothing reads are not part of the program.
  std::set<std::string> read;
  for (const Statement& statement : added_) {
    for (const Access* access : expr::accesses(statement.value)) {
      read.insert(access->tensor);
      use(access->tensor);
    }
  }
  std::erase_if(derivative_.operands, [&](const DerivativeOperand& operand) {
    const bool is_old =
        operand.role == DerivativeRole::Operand || operand.role == DerivativeRole::Result;
    return !is_old && !read.contains(operand.name);
  });
  for (const Statement& statement : normal_.statements) {
    const bool computes = used_.contains(statement.tensor);
    if (computes && !contains(normal_.results, statement.tensor)) {
      derivative_.statements.push_back(statement);
    }
  }
  derivative_.statements.insert(derivative_.statements.end(), added_.begin(), added_.end());
  return std::move(derivative_);
}

}  // namespace tulle::grad
