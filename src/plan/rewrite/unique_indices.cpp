// Renames indices so that they are unique.
#include "plan/rewrite/unique_indices.h"

#include "expr/rename_indices.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::plan {

namespace {

bool same_use(const expr::ExtentUse& a, const expr::ExtentUse& b) {
  return a.tensor == b.tensor && a.dimension == b.dimension;
}

}  // namespace

UniqueProgram with_unique_indices(const expr::ResolvedProgram& program) {
  UniqueProgram unique{program, {}, {}};
  for (size_t s = 0; s < program.statements.size(); ++s) {
    expr::Renames renames;
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
    statement.indices = expr::renamed(statement.indices, renames);
    statement.value = expr::renamed_indices(statement.value, renames);
    unique.renamed.push_back(std::move(renames));
  }
  return unique;
}

}  // namespace tulle::plan
