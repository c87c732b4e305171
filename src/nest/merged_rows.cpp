// Finds the operand whose rows are divided.
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

bool stores_rows(const Format& format) {
  const std::vector<Level>& levels = format.levels();
  return levels.size() == 2 && is_full(levels[0].kind) && levels[0].expr.is_whole() &&
         levels[1].expr.is_whole() && levels[1].unique && stores_positions(levels[1].kind) &&
         stores_coordinates(levels[1].kind);
}

bool lists_entries(const Format& format) {
  const std::vector<Level>& levels = format.levels();
  return levels.size() == 2 && stores_positions(levels[0].kind) &&
         stores_coordinates(levels[0].kind) && levels[0].multiple <= 1 &&
         levels[0].expr.is_whole() && is_branchless(levels[1].kind) && levels[1].expr.is_whole() &&
         format.is_ordered() && format.is_unique();
}

bool goes_along(const Nest& nest, const expr::Access& access, const expr::Access& operand) {
  const Format& format = nest.tensor(access.tensor).type.format;
  const Format& other = nest.tensor(operand.tensor).type.format;
  if (!stores_rows(format) || !stores_rows(other) || !format.is_ordered() || !other.is_ordered())
    return false;
  const auto index = [&](const expr::Access& of, const Format& stored, size_t level) {
    return of.indices[static_cast<size_t>(stored.levels()[level].expr.dimension)];
  };
  return index(access, format, 0) == index(operand, other, 0) &&
         index(access, format, 1) == index(operand, other, 1);
}

const expr::Access* merged_operand(const Nest& nest, const Forall& rows) {
  for (const Assign* assign : assigns(rows.body)) {
    for (const expr::Access* access : expr::accesses(assign->value)) {
      const Tensor& tensor = nest.tensor(access->tensor);
      const Format& format = tensor.type.format;
      if (tensor.role != Tensor::Role::Operand || !(stores_rows(format) || lists_entries(format)))
        continue;
      const LevelExpr& row = format.levels()[0].expr;
      const std::string& index = access->indices[static_cast<size_t>(row.dimension)];
      const std::string& along = entries_index(nest, *access);
      if (index == rows.var && along != rows.var && find_loop(rows.body, along)) return access;
    }
  }
  return nullptr;
}

}  // namespace tulle::nest
