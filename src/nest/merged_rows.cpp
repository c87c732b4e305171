// Finding the operand whose rows are cut.
#include "nest/merged_rows.h"

namespace tulle::nest {

const Forall* loop_over_merged_rows(const Nest& nest) {
  const auto* root = nest.root.as<Forall>();
  const bool merged = root && root->tag.kind == LoopTag::Kind::Parallel &&
                      root->tag.balance == LoopTag::Balance::Merge;
  return merged ? root : nullptr;
}

const std::string& entries_index(const Nest& nest, const expr::Access& operand) {
  const Level& entries = nest.tensor(operand.tensor).type.format.levels()[1];
  return operand.indices[static_cast<size_t>(entries.expr.dimension)];
}

const expr::Access* merged_operand(const Nest& nest, const Forall& rows) {
  for (const Assign* assign : assigns(rows.body)) {
    for (const expr::Access* access : expr::accesses(assign->value)) {
      const Tensor& tensor = nest.tensor(access->tensor);
      const std::vector<Level>& levels = tensor.type.format.levels();
      if (tensor.role != Tensor::Role::Operand || levels.size() != 2) continue;
      const Level &row = levels[0], &entry = levels[1];
      if (!is_full(row.kind) || !row.expr.is_whole() || !entry.expr.is_whole() || !entry.unique ||
          !stores_positions(entry.kind) || !stores_coordinates(entry.kind))
        continue;
      const std::string& index = access->indices[static_cast<size_t>(row.expr.dimension)];
      const std::string& along = entries_index(nest, *access);
      if (index == rows.var && along != rows.var && find_loop(rows.body, along)) return access;
    }
  }
  return nullptr;
}

}  // namespace tulle::nest
