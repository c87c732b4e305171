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

Result<const Forall*> only_loop(const Nest& nest, const std::string& var) {
  std::vector<const Forall*> loops;
  for_each_loop(nest.root, [&](const Forall& loop) {
    if (loop.var == var) loops.push_back(&loop);
  });
  if (loops.size() != 1) {
    return refusal(
        "There are ", loops.size(), " loops over '", var,
        "', and rfactor needs one summed loop; put it before the steps that copy the loop.");
  }
  return loops.front();
}

// The assignments that the loop accumulates: one tensor, or the workspaces of a tuple.
Result<std::vector<const Assign*>> summed_assigns(const Nest& nest, const Forall& loop) {
  std::vector<const Assign*> targets = lasting_assigns(loop.body);
  std::set<std::string> names;
  for (const Assign* target : targets) names.insert(target->tensor);
  const bool tuple = std::all_of(targets.begin(), targets.end(), [&](const Assign* target) {
    return target->accumulate && nest.tensor(target->tensor).role == Tensor::Role::Workspace;
  });
  const bool one = targets.size() == 1 && targets.front()->accumulate;
  if (names.size() != targets.size() || targets.empty() || (!one && !tuple)) {
    return refusal("The loop over '", loop.var, "' is not a plain sum; use precompute first.");
  }
  for (const Assign* target : targets) {
    for (const std::string& index : target->indices) {
      if (!nest.derives_from(loop.var, index)) continue;
      return refusal("'", loop.var, "' is not summed: '", target->tensor, "' has the index '",
                     index, "'. Leave rfactor out.");
    }
    for (const auto& [name, variable] : nest.variables) {
      if (variable.origin != Variable::Origin::Difference ||
          !contains(target->indices, variable.parent) ||
          !nest.derives_from(loop.var, variable.second))
        continue;
      return refusal("'", name, "' is the difference of '", variable.parent, "', an index of '",
                     target->tensor, "', and '", variable.second,
                     "', which is summed; leave rfactor ", "out.");
    }
    const std::string& lead = nest.tensor(target->tensor).lead;
    if (!lead.empty() && !names.contains(lead)) {
      return refusal("'", target->tensor, "' is gathered with '", lead, "', which the loop over '",
                     loop.var, "' does not contain; move this loop outside with reorder, or leave ",
                     "rfactor out.");
    }
  }
  return targets;
}

Result<> check_target(const Nest& nest, const Assign& target) {
  const Tensor& tensor = nest.tensor(target.tensor);
  const bool own_pattern = tensor.role == Tensor::Role::Result && !tensor.type.format.is_dense() &&
                           tensor.shares_pattern_of.empty();
  if (own_pattern || tensor.is_tracked()) {
    return refusal("'", target.tensor,
                   "' stores only the coordinates of terms, and partial sums do not record them; ",
                   "leave rfactor out.");
  }
  if (nest::starts_absent(target.accumulate) && nest::may_be_absent(nest, target.tensor) &&
      shows_absence(nest, target.tensor)) {
    return refusal(
        "'", target.tensor,
        "' is used in an expression, where a sum of nothing differs from 0, and partial ",
        "sums do not record whether they have terms; leave rfactor out.");
  }
  return {};
}

// Whether `inner`, a loop inside `loop`, runs over indices of the target.
Result<bool> is_target_loop(const Nest& nest, const Forall& loop, const Forall& inner,
                            const Assign& target) {
  if (!nest::find_assign(inner.body, target)) return false;
  const Result<bool> over_indices = is_over_indices(nest, target, inner.var, "rfactor");
  if (!over_indices || !*over_indices) return over_indices;
  TULLE_TRY(require_coordinates(nest, inner.var, "rfactor"));
  if (stores_sparsely(nest, target.tensor, target.indices, inner.var)) {
    return refusal("'", target.tensor, "' holds only some coordinates of '", inner.var,
                   "', and partial sums would hold all of them; leave rfactor out.");
  }
  const std::string& pattern = nest.tensor(target.tensor).shares_pattern_of;
  if (!pattern.empty() && leads_to_entries(nest, target.tensor, target.indices, inner.var)) {
    return refusal("Loops search the entries of '", target.tensor, "' in '", pattern, "', and '",
                   inner.var, "' is one of these loops: move '", inner.var, "' outside '", loop.var,
                   "', or leave rfactor out.");
  }
  return true;
}

using Loops = std::vector<const Forall*>;

// The loops inside `loop` over indices of the target, outermost first.
Result<Loops> target_loops(const Nest& nest, const Forall& loop, const Assign& target) {
  Loops found;
  TULLE_TRY(check_each_loop(loop.body, [&](const Forall& inner) -> Result<> {
    const Result<bool> is_target = is_target_loop(nest, loop, inner, target);
    if (!is_target) return is_target.error();
    if (*is_target) found.push_back(&inner);
    return {};
  }));
  return found;
}

// Builds the nest with a workspace for each target: the loop fills the workspaces, and new loops
// merge them.
class PartialSums {
 public:
  PartialSums(const Nest& nest, const Forall& loop, std::string workspace, bool is_alone)
      : nest_(nest),
        loop_(loop),
        workspace_(std::move(workspace)),
        is_alone_(is_alone),
        result_(nest),
        body_(loop.body),
        next_id_(next_access_id(nest)) {}

  Result<> add(const Assign& target) {
    TULLE_TRY(check_target(nest_, target));
    const Result<Loops> loops = target_loops(nest_, loop_, target);
    if (!loops) return loops.error();
    if (nest_.leads(target.tensor) && !loops->empty()) {
      return refusal("'", target.tensor, "' has elements inside the loop over '", loop_.var,
                     "', and other workspaces of the tuple depend on each of them; move '",
                     loops->front()->var, "' outside of '", loop_.var, "', or leave rfactor out.");
    }
    const std::string& name = parts_.emplace_back(part_of(target.tensor));
    TULLE_TRY(require_free_name(nest_, name));
    NameList indices = {loop_.var};
    for (const Forall* inner : *loops) indices.push_back(inner->var);
    const DType type = add_workspace(name, indices, nest_.tensor(target.tensor));
    body_ = replace(body_, &target, Assign::make(name, indices, target.accumulate, target.value));
    merges_.push_back(
        merge_of(target, expr::Access::make(next_id_++, name, indices, type), *loops));
    return {};
  }

  Nest finished() && {
    const Stmt producer = Forall::make(loop_.var, std::move(body_));
    const Stmt consumer =
        is_alone_ ? merges_[0] : Forall::make(loop_.var, Sequence::make(std::move(merges_)));
    result_.root = replace(nest_.root, &loop_, Where::make(parts_, consumer, producer));
    return std::move(result_);
  }

 private:
  std::string part_of(const std::string& tensor) const {
    return is_alone_ ? workspace_ : concat(workspace_, ".", tensor);
  }

  DType add_workspace(const std::string& name, const NameList& indices, const Tensor& summed) {
    const DType type = compute_type(summed.type.type);
    result_.tensors[name] = {
        .role = Tensor::Role::Workspace,
        .type = {type, summed.type.index_type, Format::dense(static_cast<int>(indices.size()))},
        .lead = summed.lead.empty() ? "" : part_of(summed.lead)};
    return type;
  }

  // The statement that merges the parts of one target.
  Stmt merge_of(const Assign& target, const expr::Expr& part, const Loops& loops) const {
    const nest::Accumulate accumulate =
        mutant("rfactor-keeps-last") ? std::nullopt : target.accumulate;
    Stmt merge = Assign::make(target.tensor, target.indices, accumulate, part);
    // A single sum is merged element by element.
    if (is_alone_) merge = Forall::make(loop_.var, std::move(merge));
    for (auto inner = loops.rbegin(); inner != loops.rend(); ++inner) {
      const bool vector = (*inner)->tag.kind == LoopTag::Kind::Vector && is_alone_;
      merge = Forall::make((*inner)->var, std::move(merge), vector ? LoopTag{} : (*inner)->tag);
    }
    return merge;
  }

  const Nest& nest_;
  const Forall& loop_;
  const std::string workspace_;
  const bool is_alone_;
  Nest result_;
  Stmt body_;
  NameList parts_;
  std::vector<Stmt> merges_;
  int next_id_;
};

}  // namespace

Result<Nest> rfactor(const Nest& nest, const RFactor& step) {
  const std::string& var = step.loop;
  TULLE_TRY(require_loop(nest, var));
  TULLE_TRY(require_untagged(nest, var, "rfactor"));
  TULLE_TRY(require_counting_up(nest, var, "rfactor"));
  const Result<const Forall*> only = only_loop(nest, var);
  if (!only) return only.error();
  const Forall& loop = **only;
  const auto targets = summed_assigns(nest, loop);
  if (!targets) return targets.error();
  PartialSums sums(nest, loop, step.workspace, targets->size() == 1);
  for (const Assign* target : *targets) TULLE_TRY(sums.add(*target));
  return std::move(sums).finished();
}

}  // namespace tulle::schedule
