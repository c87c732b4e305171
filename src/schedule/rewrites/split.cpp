// Split: forall k -> forall k0 { forall k1 }.
#include "schedule/rewrites/split.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

// The limit exceeds any memory, and sizes below it do not overflow.
constexpr int64_t kLongestPiece = int64_t{1} << 40;

expr::Expr with_indices(
    const expr::Expr& expr,
    const std::function<NameList(const std::string&, const NameList&)>& change) {
  if (const auto* access = expr.as<expr::Access>()) {
    return expr::Access::make(access->id, access->tensor, change(access->tensor, access->indices),
                              expr.type());
  }
  return expr::with_children(expr,
                             [&](const expr::Expr& child) { return with_indices(child, change); });
}

// Collects the tensors that are read or written outside of loops over the variable.
void find_outside(const Stmt& stmt, const std::string& var, std::set<std::string>& found) {
  if (const auto* loop = stmt.as<Forall>(); loop && loop->var == var) return;
  if (const auto* assign = stmt.as<Assign>()) {
    found.insert(assign->tensor);
    for (const expr::Access* access : expr::accesses(assign->value)) found.insert(access->tensor);
  }
  for (const Stmt& part : parts_of(stmt)) find_outside(part, var, found);
}

// Replaces the variable in the indices of workspaces by both parts, so that one of them can be
// spread over the threads of a GPU. Does not change workspaces that other loops over the variable
// use.
void split_workspaces(Nest& nest, const std::string& var, const std::string& outer,
                      const std::string& inner) {
  std::set<std::string> others;
  find_outside(nest.root, outer, others);
  const auto change = [&](const std::string& tensor, const NameList& indices) {
    if (nest.tensor(tensor).role != Tensor::Role::Workspace || others.contains(tensor))
      return indices;
    NameList changed;
    for (const std::string& index : indices) {
      changed.push_back(index == var ? outer : index);
      if (index == var) changed.push_back(inner);
    }
    return changed;
  };
  std::map<std::string, size_t> ranks;
  const Stmt root = rebuild(nest.root, [&](const Stmt& stmt) -> Stmt {
    const auto* assign = stmt.as<Assign>();
    if (!assign) return stmt;
    const NameList indices = change(assign->tensor, assign->indices);
    ranks[assign->tensor] = indices.size();
    return Assign::make(assign->tensor, indices, assign->accumulate,
                        with_indices(assign->value, change));
  });
  nest.root = root;
  for (auto& [name, tensor] : nest.tensors) {
    if (tensor.role != Tensor::Role::Workspace || !ranks.contains(name)) continue;
    tensor.type.format = Format::dense(static_cast<int>(ranks.at(name)));
  }
}

// The total length of this split and of the splits it continues must not overflow.
Result<> check_length(const Nest& nest, const Split& step) {
  int64_t most = kLongestPiece;
  for (std::string at = step.loop; nest.variable(at).origin == Variable::Origin::Outer;
       at = nest.variable(at).parent) {
    most /= nest.variable(at).factor;
  }
  if (step.length <= most) return {};
  return refusal("Pieces of ", step.length, " iterations of '", step.loop,
                 "' would cover more than ", kLongestPiece,
                 " iterations of the original loop; choose smaller ones.");
}

}  // namespace

Result<Nest> split(const Nest& nest, const Split& step, Remarks* remarks) {
  const auto& [var, length, outer, inner] = step;
  TULLE_TRY(require_loop(nest, var));
  TULLE_TRY(require_untagged(nest, var, "split"));
  if (nest.variable(var).is_position()) {
    return refusal("'", var, "' counts entries; choose another length in split_positions instead.");
  }
  TULLE_TRY(require_counting_up(nest, var, "split"));
  TULLE_TRY(require_free_name(nest, outer));
  TULLE_TRY(require_free_name(nest, inner));
  TULLE_TRY(require_whole_in_tracked(nest, var, "split"));
  if (const std::string tensor = sparse_tensor(nest, nest.root, var); !tensor.empty()) {
    remark(remarks, "'", tensor, "' holds only some coordinates of '", var, "': each block of ",
           length, " is searched for in it, which is slow where blocks are few or small.");
  }

  TULLE_TRY(check_length(nest, step));
  Nest result = nest;
  result.variables[outer] = {.origin = Variable::Origin::Outer, .parent = var, .factor = length};
  result.variables[inner] = {.origin = Variable::Origin::Inner, .parent = var, .factor = length};
  result.root = rebuild(nest.root, [&](const Stmt& stmt) {
    const auto* forall = stmt.as<Forall>();
    if (!forall || forall->var != step.loop) return stmt;
    return Forall::make(step.outer, Forall::make(step.inner, forall->body));
  });
  split_workspaces(result, var, outer, inner);
  return result;
}

}  // namespace tulle::schedule
