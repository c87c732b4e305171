// Finds contiguous indices.
#include "plan/rewrite/specialisable_indices.h"

#include <algorithm>

namespace tulle::plan {

std::vector<std::string> specialisable_indices(const expr::ResolvedProgram& program) {
  std::vector<std::string> found;
  for (const expr::Statement& statement : program.statements) {
    for (const expr::Access* access : expr::accesses(statement.value)) {
      const auto type = program.tensors.find(access->tensor);
      if (type == program.tensors.end() || !type->second.format.is_dense() ||
          access->indices.empty())
        continue;
      const std::string& last = access->indices.back();
      if (std::find(found.begin(), found.end(), last) == found.end()) found.push_back(last);
    }
  }
  return found;
}

}  // namespace tulle::plan
