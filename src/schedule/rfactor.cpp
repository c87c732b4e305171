// Rfactor: a where around a summed loop, with a workspace over the loop itself.
#include "schedule/rfactor.h"

#include <algorithm>

#include "schedule/queries.h"
#include "support/check.h"
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

const Assign& summed_assign(const Nest& nest, const Forall& loop) {
  const std::vector<const Assign*> lasting = lasting_assigns(loop.body);
  if (lasting.size() != 1 || !lasting.front()->accumulate) {
    user_error("The loop over '", loop.var,
               "' is no plain sum, and rfactor takes one; use precompute first.");
  }
  const Assign& target = *lasting.front();
  if (nest::has_lead(target.accumulate)) {
    user_error("'", target.tensor, "' accumulates together with '", nest.tensor(target.tensor).lead,
               "', and rfactor takes one sum; leave it out.");
  }
  for (const std::string& source : nest.sources(loop.var)) {
    if (!contains(target.indices, source)) continue;
    user_error("'", loop.var, "' is not summed: '", target.tensor, "' has the index '", source,
               "'. Leave rfactor out.");
  }
  return target;
}

// Whether a tensor's value means something else where nothing was added to it.
bool is_read_in_expression(const Nest& nest, const std::string& tensor) {
  const std::vector<const Assign*> all = assigns(nest.root);
  return std::any_of(all.begin(), all.end(), [&](const Assign* assign) {
    const auto accesses = expr::accesses(assign->value);
    return !assign->value.as<expr::Access>() &&
           std::any_of(accesses.begin(), accesses.end(),
                       [&](const expr::Access* access) { return access->tensor == tensor; });
  });
}

void check_target(const Nest& nest, const Assign& target) {
  const Tensor& tensor = nest.tensor(target.tensor);
  const bool own_pattern = tensor.role == Tensor::Role::Result && !tensor.type.format.is_dense() &&
                           tensor.shares_pattern_of.empty();
  if (own_pattern || tensor.tracking == Tensor::Tracking::Tracked) {
    user_error("'", target.tensor,
               "' stores only what some term reaches, and partial sums do not know what that is; ",
               "leave rfactor out.");
  }
  if (is_read_in_expression(nest, target.tensor)) {
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
    if (!nest::find_assign(inner.body, target) || !covers(target.indices, nest, inner.var)) return;
    require_coordinates(nest, inner.var, "rfactor");
    if (stores_sparsely(nest, target.tensor, target.indices, inner.var)) {
      user_error("'", target.tensor, "' holds only some coordinates of '", inner.var,
                 "', and partial sums would hold all of them; leave rfactor out.");
    }
    found.push_back(&inner);
  });
  return found;
}

}  // namespace

Nest rfactor(const Nest& nest, const std::string& var, const std::string& workspace) {
  require_loop(nest, var);
  require_untagged(nest, var, "rfactor");
  require_free_name(nest, workspace);
  const Forall& loop = only_loop(nest, var);
  const Assign& target = summed_assign(nest, loop);
  check_target(nest, target);
  const std::vector<const Forall*> loops = target_loops(nest, loop, target);

  std::vector<std::string> indices = {var};
  for (const Forall* inner : loops) indices.push_back(inner->var);
  const expr::TensorType& summed = nest.tensor(target.tensor).type;
  const DType type = accumulator_type(summed.type);
  Nest result = nest;
  result.tensors[workspace] = {
      .role = Tensor::Role::Workspace,
      .type = {type, summed.index_type, Format::dense(static_cast<int>(indices.size()))}};
  const Stmt producer =
      Forall::make(var, replace(loop.body, &target,
                                Assign::make(workspace, indices, target.accumulate, target.value)));
  const nest::Accumulate accumulate =
      mutant("rfactor-keeps-last") ? std::nullopt : target.accumulate;
  Stmt consumer = Forall::make(
      var, Assign::make(target.tensor, target.indices, accumulate,
                        expr::Access::make(next_access_id(nest), workspace, indices, type)));
  for (auto inner = loops.rbegin(); inner != loops.rend(); ++inner) {
    // The loop over `var` is innermost now.
    const bool vector = (*inner)->tag.kind == LoopTag::Kind::Vector;
    consumer = Forall::make((*inner)->var, std::move(consumer), vector ? LoopTag{} : (*inner)->tag);
  }
  result.root = replace(nest.root, &loop, Where::make(workspace, consumer, producer));
  return result;
}

}  // namespace tulle::schedule
