// Renames indices so that they are unique.
#include "plan/rewrite/unique_indices.h"

#include "expr/rename_indices.h"
#include "plan/rewrite/clear_names.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::plan {

namespace {

bool same_use(const expr::ExtentUse& a, const expr::ExtentUse& b) {
  return a.tensor == b.tensor && a.dimension == b.dimension;
}

// All names in the program.
struct Taken {
  std::set<std::string> tensors, indices;
};

Taken taken_names(const expr::ResolvedProgram& program) {
  Taken taken;
  for (const auto& [name, type] : program.tensors) taken.tensors.insert(name);
  for (const auto& extents : program.extents) {
    for (const auto& [index, uses] : extents) taken.indices.insert(index);
  }
  for (const std::string& name : taken.tensors) {
    TULLE_CHECK(!is_name_of_stages(name, taken.tensors, taken.indices), "the name ", name,
                " is not clear");
  }
  return taken;
}

}  // namespace

UniqueProgram with_unique_indices(const expr::ResolvedProgram& program) {
  Taken taken = taken_names(program);
  const Taken written = taken;
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
      if (differs || is_index_of_stages(index, written.tensors, written.indices)) {
        name = concat(index, "_", s);
        while (!taken.indices.insert(name).second) name += "_";
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
