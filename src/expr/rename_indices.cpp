// Renaming indices.
#include "expr/rename_indices.h"

namespace tulle::expr {

std::vector<std::string> renamed(std::vector<std::string> indices, const Renames& renames) {
  for (std::string& index : indices) {
    const auto found = renames.find(index);
    if (found != renames.end()) index = found->second;
  }
  return indices;
}

Expr renamed_indices(const Expr& expr, const Renames& renames) {
  if (const auto* access = expr.as<Access>()) {
    Access changed = *access;
    changed.indices = renamed(access->indices, renames);
    return std::make_shared<const Access>(std::move(changed));
  }
  if (const auto* value = expr.as<IndexValue>()) {
    return IndexValue::make(renamed({value->index}, renames)[0], value->is_extent);
  }
  if (const auto* softmax = expr.as<Softmax>()) {
    Softmax changed = *softmax;
    changed.index = renamed({softmax->index}, renames)[0];
    changed.body = renamed_indices(softmax->body, renames);
    return std::make_shared<const Softmax>(std::move(changed));
  }
  if (const auto* sum = expr.as<Reduce>()) {
    Reduce changed = *sum;
    changed.indices = renamed(sum->indices, renames);
    changed.body = renamed_indices(sum->body, renames);
    return std::make_shared<const Reduce>(std::move(changed));
  }
  return with_children(expr, [&](const Expr& child) { return renamed_indices(child, renames); });
}

}  // namespace tulle::expr
