// Finds contiguous indices.
#include "plan/rewrite/specialisable_indices.h"

#include <algorithm>

namespace tulle::plan {

namespace {

// The index along which neighbours in memory lie; empty if there is none. A sparse tensor has one
// if its entries are dense blocks.
std::string contiguous_index(const expr::Access& access, const Format& format) {
  if (access.indices.empty()) return {};
  if (format.is_dense()) return access.indices.back();
  const Level& last = format.levels().back();
  const bool is_block = is_full(last.kind) && last.expr.is_whole();
  return is_block ? access.indices[static_cast<size_t>(last.expr.dimension)] : std::string();
}

}  // namespace

std::vector<std::string> specialisable_indices(const expr::ResolvedProgram& program) {
  std::vector<std::string> found;
  for (const expr::Statement& statement : program.statements) {
    for (const expr::Access* access : expr::accesses(statement.value)) {
      const auto type = program.tensors.find(access->tensor);
      if (type == program.tensors.end()) continue;
      const std::string index = contiguous_index(*access, type->second.format);
      if (index.empty() || std::find(found.begin(), found.end(), index) != found.end()) continue;
      found.push_back(index);
    }
  }
  return found;
}

}  // namespace tulle::plan
