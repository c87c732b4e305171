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

namespace {

void find_told(const Nest& nest, const expr::Expr& expr, bool fixes, std::set<std::string>& found) {
  const auto is_unbounded = [&](const expr::Expr& part) {
    return expr::may_be_infinite(part, [&](const std::string& tensor) {
      // A maximum over nothing is infinite, too.
      const Accumulate accumulate = nest.tensor(tensor).role == Tensor::Role::Workspace
                                        ? accumulation_of(nest.root, tensor)
                                        : std::nullopt;
      return nest.tensor(tensor).type.unbounded || (accumulate && !starts_absent(accumulate));
    });
  };
  if (const auto* access = expr.as<expr::Access>()) {
    if (fixes && nest.tensor(access->tensor).role == Tensor::Role::Workspace)
      found.insert(access->tensor);
  } else if (const auto* unary = expr.as<expr::Unary>()) {
    find_told(nest, unary->value, fixes || unary->function == expr::ElementFunction::Ones, found);
  } else if (expr.as<expr::Choose>()) {
    for (const expr::Expr& child : expr::children(expr)) find_told(nest, child, fixes, found);
  } else if (const auto* binary = expr.as<expr::Binary>()) {
    const bool quotient = binary->op == expr::BinaryOp::Div,
               product = binary->op == expr::BinaryOp::Mul,
               masks = binary->op == expr::BinaryOp::Within;
    find_told(nest, binary->a, fixes || quotient || masks || (product && is_unbounded(binary->b)),
              found);
    find_told(nest, binary->b, fixes || (product && is_unbounded(binary->a)), found);
  }
}

}  // namespace

std::set<std::string> told_from_zero(const Nest& nest) {
  std::set<std::string> found;
  for (const Assign* assign : assigns(nest.root)) {
    // A 0 may be the largest of all, and nothing is not.
    const auto reads = expr::accesses(assign->value);
    const bool fixes = !starts_absent(assign->accumulate) &&
                       std::any_of(reads.begin(), reads.end(), [&](const expr::Access* access) {
                         return may_be_absent(nest, access->tensor);
                       });
    find_told(nest, assign->value, fixes, found);
  }
  for (const auto* where = nest.root.as<Where>(); where; where = where->consumer.as<Where>()) {
    for (const std::string& workspace : where->workspaces) found.erase(workspace);
  }
  return found;
}

}  // namespace tulle::nest
