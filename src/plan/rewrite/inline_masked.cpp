// Inlines intermediates.
#include "plan/rewrite/inline_masked.h"

#include <algorithm>

#include "expr/rename_indices.h"
#include "expr/walk.h"

namespace tulle::plan {

using expr::Access;
using expr::Binary;
using expr::BinaryOp;
using expr::Expr;

namespace {

// The number of reads of the tensor in the expression, and of unmasked ones.
struct Uses {
  int all = 0;
  int open = 0;
};

void count_uses(const expr::ResolvedProgram& program, const Expr& expr, const std::string& tensor,
                bool masked, Uses& uses) {
  const auto* access = expr.as<Access>();
  if (access && access->tensor == tensor) {
    ++uses.all;
    if (!masked) ++uses.open;
  }
  const auto* binary = expr.as<Binary>();
  if (binary && binary->op == BinaryOp::Within) {
    const std::vector<const Access*> mask = expr::accesses(binary->a);
    const bool sparse = std::any_of(mask.begin(), mask.end(), [&](const Access* by) {
      return !program.tensors.at(by->tensor).format.is_dense();
    });
    count_uses(program, binary->a, tensor, masked, uses);
    return count_uses(program, binary->b, tensor, masked || sparse, uses);
  }
  for (const Expr& child : expr::children(expr)) count_uses(program, child, tensor, masked, uses);
}

void collect_bound(const Expr& expr, std::vector<std::string>& bound) {
  if (const auto* reduce = expr.as<expr::Reduce>()) {
    bound.insert(bound.end(), reduce->indices.begin(), reduce->indices.end());
  }
  for (const Expr& child : expr::children(expr)) collect_bound(child, bound);
}

}  // namespace

bool is_used_under_mask(const expr::ResolvedProgram& program, size_t at) {
  const expr::Statement& statement = program.statements[at];
  const auto& results = program.results;
  if (std::find(results.begin(), results.end(), statement.tensor) != results.end()) return false;
  if (statement.indices.size() < 2) return false;
  if (!program.tensors.at(statement.tensor).format.is_dense()) return false;
  Uses uses;
  for (size_t later = at + 1; later < program.statements.size(); ++later) {
    if (program.statements[later].adds_to == statement.tensor) return false;
    count_uses(program, program.statements[later].value, statement.tensor, false, uses);
  }
  return uses.all == 1 && uses.open == 0;
}

Expr Inliner::replace(const Expr& expr) {
  const auto* access = expr.as<Access>();
  const auto found = access ? statements_.find(access->tensor) : statements_.end();
  if (found == statements_.end()) {
    return expr::with_children(expr, [&](const Expr& child) { return replace(child); });
  }
  const expr::Statement& statement = found->second;
  expr::Renames renames;
  for (size_t d = 0; d < statement.indices.size(); ++d) {
    renames[statement.indices[d]] = access->indices[d];
  }
  std::vector<std::string> bound;
  collect_bound(statement.value, bound);
  for (const std::string& index : bound) renames[index] = same_extent_(index);
  return expr::renumbered(renamed_indices(statement.value, renames), next_id_);
}

Expr Inliner::inline_into(const Expr& value) {
  if (statements_.empty()) return value;
  next_id_ = std::max(next_id_, expr::next_access_id(value));
  return replace(value);
}

}  // namespace tulle::plan
