// Compares assignments with the entries of chunks.
#include "nest/cut_rows.h"

#include <algorithm>

namespace tulle::nest {

bool adds_up_cut_rows(const Nest& nest, const Assign& assign) {
  if (!nest.tensor(assign.tensor).shares_pattern_of.empty()) return false;
  const std::vector<const Assign*> all = assigns(nest.root);
  // The index along which the operand of the chunks stores entries.
  const auto is_summed = [&](const std::string& operand) {
    const Level& entries = nest.tensor(operand).type.format.levels()[1];
    return std::any_of(all.begin(), all.end(), [&](const Assign* reader) {
      const auto reads = expr::accesses(reader->value);
      return std::any_of(reads.begin(), reads.end(), [&](const expr::Access* access) {
        if (access->tensor != operand) return false;
        const std::string& index = access->indices[static_cast<size_t>(entries.expr.dimension)];
        return std::find(assign.indices.begin(), assign.indices.end(), index) ==
               assign.indices.end();
      });
    });
  };
  return std::any_of(nest.variables.begin(), nest.variables.end(), [&](const auto& entry) {
    return entry.second.origin == Variable::Origin::ChunkRow && is_summed(entry.second.tensor);
  });
}

Accumulate combined_by(const Nest& nest, const Assign& assign) {
  const auto* stored = assign.value.as<expr::Access>();
  const bool gathered = stored && nest.tensor(stored->tensor).role == Tensor::Role::Workspace;
  return assign.accumulate || !gathered ? assign.accumulate
                                        : accumulation_of(nest.root, stored->tensor);
}

}  // namespace tulle::nest
