// Checks on loops whose iterations the members of a chunk share.
#include "schedule/members.h"

#include <algorithm>

#include "nest/bound_loops.h"
#include "schedule/queries.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::schedule {

namespace {

bool is_gathered(const Nest& nest, const std::string& tensor) {
  const Tensor& found = nest.tensor(tensor);
  return found.role == Tensor::Role::Result || found.tracking == Tensor::Tracking::Tracked;
}

// The result is sparse, new, and has all of the variable's coordinates for each of its entries.
void check_result(const Nest& nest, const Assign& assign, const std::string& var) {
  const Tensor& result = nest.tensor(assign.tensor);
  const Format& format = result.type.format;
  if (format.is_dense() || !result.shares_pattern_of.empty()) {
    user_error("The structure of '", assign.tensor,
               "' is not gathered, so that its chunks have no ", "members; bind '", var,
               "' to threads instead.");
  }
  const Variable& variable = nest.variable(var);
  bool stores_below = false, found = false;
  for (auto level = format.levels().rbegin(); level != format.levels().rend(); ++level) {
    const bool is_quotient = level->expr.part == LevelExpr::Part::Quotient;
    const std::string& index = assign.indices[static_cast<size_t>(level->expr.dimension)];
    const bool is_inside = variable.origin == Variable::Origin::Inner && !is_quotient &&
                           index == variable.parent && level->expr.divisor == variable.factor;
    stores_below = stores_below || !is_full(level->kind);
    found = found || ((is_inside || (level->expr.is_whole() && index == var)) && !stores_below);
  }
  if (!found) {
    user_error("'", assign.tensor, "' has no blocks along '", var,
               "': its members would find different entries.");
  }
}

void check_loop(const Nest& nest, const Forall& loop) {
  if (loop.tag.by_atomics) {
    user_error("Members of a chunk have different elements and sum up nothing together; leave ",
               "sums=atomics out.");
  }
  for (const Assign* assign : lasting_assigns(loop.body)) {
    const bool is_over = covers(assign->indices, nest, loop.var);
    if (is_over && is_gathered(nest, assign->tensor)) continue;
    user_error("'", assign->tensor, "' is computed in the loop over '", loop.var,
               "', and each member would have a part of it; members share the elements of blocks ",
               "alone.");
  }
}

// What a block is gathered in and stored from stands in the loop, under the same indices.
void check_assign(const Nest& nest, const Assign& assign, const std::string& var) {
  bool is_inside = !is_gathered(nest, assign.tensor);
  for_each_loop(nest.root, [&](const Forall& loop) {
    const bool is_bound = loop.tag.kind == LoopTag::Kind::Member || mutant("member-stores-others");
    const bool is_shared = loop.var == var && is_bound;
    is_inside = is_inside || (is_shared && nest::find_assign(loop.body, assign));
  });
  for (const expr::Access* access : expr::accesses(assign.value)) {
    if (!is_gathered(nest, access->tensor)) continue;
    is_inside = is_inside && covers(access->indices, nest, var);
  }
  if (!is_inside) {
    user_error("'", assign.tensor, "' is computed outside of the loop over '", var,
               "', and all members would do that.");
  }
}

}  // namespace

void require_legal_members(const Nest& nest) {
  const std::vector<std::string> members = nest::member_variables(nest);
  if (members.empty()) return;
  if (nest::has_bound_loops(nest.root)) {
    user_error("Loops are bound to members of chunks or to parts of a GPU, and here are both.");
  }
  int64_t count = 1;
  for (const std::string& var : members) {
    const auto extent = nest.known_extent(var);
    if (!extent || *extent < 1) {
      user_error("The extent of '", var, "' is not known when compiling, so that it cannot be ",
                 "bound to members.");
    }
    count *= *extent;
    for_each_loop(nest.root, [&](const Forall& loop) {
      if (loop.var == var) check_loop(nest, loop);
    });
    for (const Assign* assign : assigns(nest.root)) {
      check_assign(nest, *assign, var);
      if (nest.tensor(assign->tensor).role == Tensor::Role::Result)
        check_result(nest, *assign, var);
    }
    const std::string sparse = sparse_tensor(nest, nest.root, var);
    if (!sparse.empty()) {
      user_error("'", sparse, "' holds only some coordinates of '", var,
                 "'; members go through all of them.");
    }
  }
  if (count > kMostMembers) {
    user_error("Loops over ", list_of(members), " have ", count, " iterations together, and a ",
               "chunk has at most ", kMostMembers, " members; bind fewer of them.");
  }
}

}  // namespace tulle::schedule
