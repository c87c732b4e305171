// Finds the terms and readers of workspaces.
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

namespace {

// Whether a condition reads a workspace that counts entries.
bool counts(const Nest& nest, const expr::Expr& condition) {
  const std::vector<const expr::Access*> reads = expr::accesses(condition);
  const std::vector<const Assign*> all = assigns(nest.root);
  return std::any_of(reads.begin(), reads.end(), [&](const expr::Access* access) {
    return nest.tensor(access->tensor).role == Tensor::Role::Workspace &&
           std::all_of(all.begin(), all.end(), [&](const Assign* assign) {
             const auto* ones = assign->value.as<expr::Unary>();
             return assign->tensor != access->tensor ||
                    (ones && ones->function == expr::ElementFunction::Ones);
           });
  });
}

}  // namespace

std::set<std::string> told_from_zero(const Nest& nest) {
  std::set<std::string> found;
  const auto is_workspace = [&](const std::string& tensor) {
    return nest.tensor(tensor).role == Tensor::Role::Workspace;
  };
  const expr::AbsenceQuestions questions{
      [&](const std::string& tensor) {
        // A maximum over no terms is infinite, too.
        const Accumulate accumulate =
            is_workspace(tensor) ? accumulation_of(nest.root, tensor) : std::nullopt;
        return nest.tensor(tensor).type.unbounded || (accumulate && !starts_absent(accumulate));
      },
      [&](const expr::Expr& condition) { return counts(nest, condition); }};
  for (const Assign* assign : assigns(nest.root)) {
    // A 0 may be the largest term; an absent term never is.
    const auto reads = expr::accesses(assign->value);
    const bool fixes = !starts_absent(assign->accumulate) &&
                       std::any_of(reads.begin(), reads.end(), [&](const expr::Access* access) {
                         return may_be_absent(nest, access->tensor);
                       });
    expr::find_told(assign->value, questions, fixes, [&](const expr::Expr& leaf) {
      const auto* access = leaf.as<expr::Access>();
      if (access && is_workspace(access->tensor)) found.insert(access->tensor);
    });
  }
  for (const auto* where = nest.root.as<Where>(); where; where = where->consumer.as<Where>()) {
    for (const std::string& workspace : where->workspaces) found.erase(workspace);
  }
  return found;
}

}  // namespace tulle::nest
