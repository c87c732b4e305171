// Renaming indices apart.
#include "plan/unique_indices.h"

#include "support/check.h"
#include "support/mutant.h"

namespace tulle::plan {

namespace {

using Renames = std::map<std::string, std::string>;

std::vector<std::string> renamed(std::vector<std::string> indices, const Renames& renames) {
  for (std::string& index : indices) {
    const auto found = renames.find(index);
    if (found != renames.end()) index = found->second;
  }
  return indices;
}

expr::Expr renamed(const expr::Expr& expr, const Renames& renames) {
  if (const auto* access = expr.as<expr::Access>()) {
    return expr::Access::make(access->id, access->tensor, renamed(access->indices, renames),
                              expr.type());
  }
  if (const auto* unary = expr.as<expr::Unary>()) {
    return std::make_shared<const expr::Unary>(expr.type(), unary->function,
                                               renamed(unary->value, renames));
  }
  if (const auto* binary = expr.as<expr::Binary>()) {
    return std::make_shared<const expr::Binary>(
        expr.type(), binary->op, renamed(binary->a, renames), renamed(binary->b, renames));
  }
  if (const auto* sum = expr.as<expr::Reduce>()) {
    return std::make_shared<const expr::Reduce>(expr.type(), renamed(sum->indices, renames),
                                                renamed(sum->body, renames));
  }
  return expr;
}

bool same_use(const expr::ExtentUse& a, const expr::ExtentUse& b) {
  return a.tensor == b.tensor && a.dimension == b.dimension;
}

}  // namespace

UniqueProgram with_unique_indices(const expr::ResolvedProgram& program) {
  UniqueProgram unique{program, {}};
  for (size_t s = 0; s < program.statements.size(); ++s) {
    Renames renames;
    auto& extents = unique.program.extents[s];
    std::map<std::string, std::vector<expr::ExtentUse>> kept;
    for (const auto& [index, uses] : extents) {
      const auto taken = unique.extents.find(index);
      const bool differs = !mutant("indices-not-renamed") && taken != unique.extents.end() &&
                           !same_use(taken->second.front(), uses.front());
      const std::string name = differs ? concat(index, "_", s) : index;
      if (differs) renames[index] = name;
      kept[name] = uses;
      auto& all = unique.extents[name];
      all.insert(all.end(), uses.begin(), uses.end());
    }
    extents = kept;
    expr::Statement& statement = unique.program.statements[s];
    statement.indices = renamed(statement.indices, renames);
    statement.value = renamed(statement.value, renames);
  }
  return unique;
}

}  // namespace tulle::plan
