// Prints the statements of a program.
#include "api/explain_statements.h"

#include <algorithm>
#include <set>

#include "expr/padding.h"
#include "expr/print.h"
#include "expr/walk.h"
#include "support/check.h"

namespace tulle {

namespace {

// Whether a sparse tensor stores padding, or is computed from one that does.
bool stores_padding(const expr::ResolvedProgram& program, const std::string& tensor) {
  const Format& format = program.tensors.at(tensor).format;
  if (format.is_dense()) return false;
  const bool is_assigned =
      std::any_of(program.statements.begin(), program.statements.end(),
                  [&](const expr::Statement& one) { return one.tensor == tensor; });
  if (!is_assigned) return expr::stores_padding(format);
  for (const expr::Statement& statement : program.statements) {
    if (statement.tensor != tensor) continue;
    if (expr::adds_padding(statement, program.tensors, format)) return true;
    const auto all = expr::accesses(statement.value);
    const auto reads_padding = [&](const expr::Access* access) {
      return stores_padding(program, access->tensor);
    };
    if (std::any_of(all.begin(), all.end(), reads_padding)) return true;
  }
  return false;
}

// The tensors with padding whose entries a reduction runs over.
std::set<std::string> seen_with_padding(const expr::ResolvedProgram& program) {
  std::set<std::string> found;
  const auto look = [&](const expr::Expr& part) {
    const auto* reduce = part.as<expr::Reduce>();
    const auto* softmax = part.as<expr::Softmax>();
    if (!softmax && !(reduce && reduce->stored)) return false;
    for (const expr::Access* access : expr::accesses(softmax ? softmax->body : reduce->body)) {
      if (stores_padding(program, access->tensor)) found.insert(access->tensor);
    }
    return false;
  };
  for (const expr::Statement& statement : program.statements) {
    expr::any_part(statement.value, look);
  }
  return found;
}

}  // namespace

std::string explain_statements(const expr::ResolvedProgram& program) {
  std::string text =
      concat("== expr ==\n", expr::to_string(expr::ParsedProgram{program.statements}));
  for (const auto& [name, type] : program.tensors) {
    text += concat("  ", name, ": ", name_of(type.type), ", ", type.format.name(), "\n");
  }
  for (const std::string& name : seen_with_padding(program)) {
    text += concat("  # ", name, " stores padding as entries of 0, which reductions over its ",
                   "entries see; store it as coo or csr if they should not\n");
  }
  return text;
}

}  // namespace tulle
