// Rfactor: a where around a summed loop, with a workspace over the loop itself.
#include "schedule/rewrites/rfactor.h"

#include <algorithm>
#include <set>

#include "nest/absence.h"
#include "schedule/queries.h"
#include "support/check.h"
#include "support/half.h"
#include "support/mutant.h"

namespace tulle::schedule {

namespace {

const Forall& only_loop(const Nest& nest, const std::string& var) {
  std::vector<const Forall*> loops;
  for_each_loop(nest.root, [&](const Forall& loop) {
    if (loop.var == var) loops.push_back(&loop);
  });
  if (loops.size() != 1) {
    user_error("There are ", loops.size(), " loops over '", var,
               "', and rfactor takes the one that is summed; put it before what copies the loop.");
  }
  return *loops.front();
}

// What the loop accumulates: one tensor, or workspaces that make a tuple.
std::vector<const Assign*> summed_assigns(const Nest& nest, const Forall& loop) {
  std::vector<const Assign*> targets = lasting_assigns(loop.body);
  std::set<std::string> names;
  for (const Assign* target : targets) names.insert(target->tensor);
  const bool tuple = std::all_of(targets.begin(), targets.end(), [&](const Assign* target) {
    return target->accumulate && nest.tensor(target->tensor).role == Tensor::Role::Workspace;
  });
  const bool one = targets.size() == 1 && targets.front()->accumulate;
  if (names.size() != targets.size() || targets.empty() || (!one && !tuple)) {
    user_error("The loop over '", loop.var,
               "' is no plain sum, and rfactor takes one; use precompute first.");
  }
  for (const Assign* target : targets) {
    for (const std::string& index : target->indices) {
      if (!nest.derives_from(loop.var, index)) continue;
      user_error("'", loop.var, "' is not summed: '", target->tensor, "' has the index '", index,
                 "'. Leave rfactor out.");
    }
    for (const auto& [name, variable] : nest.variables) {
      if (variable.origin != Variable::Origin::Difference ||
          !contains(target->indices, variable.parent) ||
          !nest.derives_from(loop.var, variable.second))
        continue;
      user_error("'", name, "' is the difference of '", variable.parent, "', an index of '",
                 target->tensor, "', and '", variable.second, "', which is summed; leave rfactor ",
                 "out.");
    }
    const std::string& lead = nest.tensor(target->tensor).lead;
    if (!lead.empty() && !names.contains(lead)) {
      user_error("'", target->tensor, "' is gathered with '", lead, "', which the loop over '",
                 loop.var, "' does not reach; bring that loop outside with reorder, or leave ",
                 "rfactor out.");
    }
  }
  return targets;
}

void check_target(const Nest& nest, const Assign& target) {
  const Tensor& tensor = nest.tensor(target.tensor);
  const bool own_pattern = tensor.role == Tensor::Role::Result && !tensor.type.format.is_dense() &&
                           tensor.shares_pattern_of.empty();
  if (own_pattern || tensor.is_tracked()) {
    user_error("'", target.tensor,
               "' stores only what some term reaches, and partial sums do not know what that is; ",
               "leave rfactor out.");
  }
  if (nest::starts_absent(target.accumulate) && nest::may_be_absent(nest, target.tensor) &&
      shows_absence(nest, target.tensor)) {
    user_error("'", target.tensor,
               "' is used in an expression, where a sum of nothing differs from 0, and partial ",
               "sums do not know whether there was anything; leave rfactor out.");
  }
}

// The loops inside `loop` over indices of the tensor that is summed into, outermost first.
std::vector<const Forall*> target_loops(const Nest& nest, const Forall& loop,
                                        const Assign& target) {
  std::vector<const Forall*> found;
  for_each_loop(loop.body, [&](const Forall& inner) {
    if (!nest::find_assign(inner.body, target)) return;
    if (!is_over_indices(nest, target, inner.var, "rfactor")) return;
    require_coordinates(nest, inner.var, "rfactor");
    if (stores_sparsely(nest, target.tensor, target.indices, inner.var)) {
      user_error("'", target.tensor, "' holds only some coordinates of '", inner.var,
                 "', and partial sums would hold all of them; leave rfactor out.");
    }
    const std::string& pattern = nest.tensor(target.tensor).shares_pattern_of;
    if (!pattern.empty() && leads_to_entries(nest, target.tensor, target.indices, inner.var)) {
      user_error("The entries of '", target.tensor, "' are those that loops find in '", pattern,
                 "', and '", inner.var, "' is among them: bring '", inner.var, "' outside of '",
                 loop.var, "', or leave rfactor out.");
    }
    found.push_back(&inner);
  });
  return found;
}

}  // namespace

Nest rfactor(const Nest& nest, const std::string& var, const std::string& workspace) {
  require_loop(nest, var);
  require_untagged(nest, var, "rfactor");
  require_counting_up(nest, var, "rfactor");
  const Forall& loop = only_loop(nest, var);
  const std::vector<const Assign*> targets = summed_assigns(nest, loop);
  auto part_of = [&](const std::string& tensor) {
    return targets.size() == 1 ? workspace : concat(workspace, "_", tensor);
  };
  Nest result = nest;
  Stmt body = loop.body;
  std::vector<std::string> parts;
  std::vector<Stmt> merges;
  int id = next_access_id(nest);
  for (const Assign* target : targets) {
    check_target(nest, *target);
    const std::vector<const Forall*> loops = target_loops(nest, loop, *target);
    if (nest.leads(target->tensor) && !loops.empty()) {
      user_error("'", target->tensor, "' has elements inside the loop over '", var,
                 "', and what goes with it needs what each of them decided; bring '",
                 loops.front()->var, "' outside of '", var, "', or leave rfactor out.");
    }
    const std::string& name = parts.emplace_back(part_of(target->tensor));
    require_free_name(nest, name);
    std::vector<std::string> indices = {var};
    for (const Forall* inner : loops) indices.push_back(inner->var);
    const Tensor& summed = nest.tensor(target->tensor);
    const DType type = compute_type(summed.type.type);
    result.tensors[name] = {
        .role = Tensor::Role::Workspace,
        .type = {type, summed.type.index_type, Format::dense(static_cast<int>(indices.size()))},
        .lead = summed.lead.empty() ? "" : part_of(summed.lead)};
    body = replace(body, target, Assign::make(name, indices, target->accumulate, target->value));
    const nest::Accumulate accumulate =
        mutant("rfactor-keeps-last") ? std::nullopt : target->accumulate;
    Stmt merge = Assign::make(target->tensor, target->indices, accumulate,
                              expr::Access::make(id++, name, indices, type));
    // What is alone is merged for one element after the other.
    if (targets.size() == 1) merge = Forall::make(var, std::move(merge));
    for (auto inner = loops.rbegin(); inner != loops.rend(); ++inner) {
      const bool vector = (*inner)->tag.kind == LoopTag::Kind::Vector && targets.size() == 1;
      merge = Forall::make((*inner)->var, std::move(merge), vector ? LoopTag{} : (*inner)->tag);
    }
    merges.push_back(std::move(merge));
  }
  const Stmt producer = Forall::make(var, std::move(body));
  const Stmt consumer =
      targets.size() == 1 ? merges[0] : Forall::make(var, Sequence::make(std::move(merges)));
  result.root = replace(nest.root, &loop, Where::make(parts, consumer, producer));
  return result;
}

}  // namespace tulle::schedule
