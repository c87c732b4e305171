// Asking what is assigned to workspaces.
#include "nest/absence.h"

#include <algorithm>

#include "expr/absence.h"

namespace tulle::nest {

bool may_be_absent(const Nest& nest, const std::string& workspace) {
  if (nest.tensor(workspace).role != Tensor::Role::Workspace) return false;
  const auto is_absent = [&](const expr::Access& access) {
    const Tensor& tensor = nest.tensor(access.tensor);
    if (access.tensor == workspace) return false;
    return tensor.role == Tensor::Role::Workspace ? may_be_absent(nest, access.tensor)
                                                  : !tensor.type.format.is_dense();
  };
  const std::vector<const Assign*> all = assigns(nest.root);
  return std::all_of(all.begin(), all.end(), [&](const Assign* assign) {
    return assign->tensor != workspace || (starts_absent(assign->accumulate) &&
                                           expr::is_zero(expr::without(assign->value, is_absent)));
  });
}

}  // namespace tulle::nest
