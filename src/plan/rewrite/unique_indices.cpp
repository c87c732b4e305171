// Renaming indices apart.
#include "plan/rewrite/unique_indices.h"

#include "support/check.h"
#include "support/mutant.h"

namespace tulle::plan {

namespace {

std::vector<std::string> renamed(std::vector<std::string> indices, const Renames& renames) {
  for (std::string& index : indices) {
    const auto found = renames.find(index);
    if (found != renames.end()) index = found->second;
  }
  return indices;
}

bool same_use(const expr::ExtentUse& a, const expr::ExtentUse& b) {
  return a.tensor == b.tensor && a.dimension == b.dimension;
}

}  // namespace

expr::Expr renamed_indices(const expr::Expr& expr, const Renames& renames) {
  if (const auto* access = expr.as<expr::Access>()) {
    expr::Access changed = *access;
    changed.indices = renamed(access->indices, renames);
    return std::make_shared<const expr::Access>(std::move(changed));
  }
  if (const auto* value = expr.as<expr::IndexValue>()) {
    return expr::IndexValue::make(renamed({value->index}, renames)[0], value->is_extent);
  }
  if (const auto* softmax = expr.as<expr::Softmax>()) {
    expr::Softmax changed = *softmax;
    changed.index = renamed({softmax->index}, renames)[0];
    changed.body = renamed_indices(softmax->body, renames);
    return std::make_shared<const expr::Softmax>(std::move(changed));
  }
  if (const auto* sum = expr.as<expr::Reduce>()) {
    expr::Reduce changed = *sum;
    changed.indices = renamed(sum->indices, renames);
    changed.body = renamed_indices(sum->body, renames);
    return std::make_shared<const expr::Reduce>(std::move(changed));
  }
  return expr::with_children(
      expr, [&](const expr::Expr& child) { return renamed_indices(child, renames); });
}

UniqueProgram with_unique_indices(const expr::ResolvedProgram& program) {
  UniqueProgram unique{program, {}, {}};
  for (size_t s = 0; s < program.statements.size(); ++s) {
    Renames renames;
    auto& extents = unique.program.extents[s];
    std::map<std::string, std::vector<expr::ExtentUse>> kept;
    for (const auto& [index, uses] : extents) {
      const auto known = unique.extents.find(index);
      const bool differs = !mutant("indices-not-renamed") && known != unique.extents.end() &&
                           !same_use(known->second.front(), uses.front());
      std::string name = index;
      if (differs) {
        name = concat(index, ".", s);
        renames[index] = name;
      }
      kept[name] = uses;
      auto& all = unique.extents[name];
      all.insert(all.end(), uses.begin(), uses.end());
    }
    extents = kept;
    expr::Statement& statement = unique.program.statements[s];
    statement.indices = renamed(statement.indices, renames);
    statement.value = renamed_indices(statement.value, renames);
    unique.renamed.push_back(std::move(renames));
  }
  return unique;
}

}  // namespace tulle::plan
