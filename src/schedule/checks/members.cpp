// Checks on loops whose iterations the members of a chunk share.
#include "schedule/checks/members.h"

#include <algorithm>

#include "nest/bound_loops.h"
#include "schedule/queries.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::schedule {

namespace {

bool is_gathered(const Nest& nest, const std::string& tensor) {
  const Tensor& found = nest.tensor(tensor);
  return found.role == Tensor::Role::Result || found.is_tracked();
}

// Whether the variable runs over full levels at the end of the format: over the blocks of the
// entries.
bool goes_through_blocks(const Nest& nest, const Assign& assign, const std::string& var) {
  const Variable& variable = nest.variable(var);
  const std::vector<Level>& levels = nest.tensor(assign.tensor).type.format.levels();
  for (auto level = levels.rbegin(); level != levels.rend() && is_full(level->kind); ++level) {
    const bool is_remainder = level->expr.part == LevelExpr::Part::Remainder;
    const std::string& index = assign.indices[static_cast<size_t>(level->expr.dimension)];
    const bool is_inside = variable.origin == Variable::Origin::Inner && is_remainder &&
                           index == variable.parent && level->expr.divisor == variable.factor;
    if (is_inside || (level->expr.is_whole() && index == var)) return true;
  }
  return false;
}

// The advice for a loop that cannot be bound: names the loops that can.
std::string instead_of(const Nest& nest, const std::string& var) {
  std::vector<std::string> others;
  for_each_loop(nest.root, [&](const Forall& loop) {
    const std::vector<const Assign*> all = assigns(nest.root);
    const bool fits = std::any_of(all.begin(), all.end(), [&](const Assign* assign) {
      return nest.tensor(assign->tensor).role == Tensor::Role::Result &&
             goes_through_blocks(nest, *assign, loop.var);
    });
    const bool is_new = loop.var != var && !contains(others, loop.var);
    if (fits && is_new && nest.known_extent(loop.var).value_or(0) > 0 &&
        sparse_tensor(nest, nest.root, loop.var).empty())
      others.push_back(loop.var);
  });
  if (others.empty()) return concat("leave bind(", var, ", member) out");
  return concat("bind a loop through blocks that the result stores whole, over ", list_of(others));
}

// Requires a sparse result with its own pattern and blocks along the variable.
Result<> check_result(const Nest& nest, const Assign& assign, const std::string& var) {
  const Tensor& result = nest.tensor(assign.tensor);
  const bool is_dense = result.type.format.is_dense();
  if (is_dense || !result.shares_pattern_of.empty()) {
    return refusal("Members of a chunk share the entries of a sparse result, and '", assign.tensor,
                   "' ",
                   is_dense ? std::string("is dense")
                            : concat("has the pattern of '", result.shares_pattern_of, "'"),
                   "; bind the outermost loop to blocks and '", var, "' to threads instead.");
  }
  if (!goes_through_blocks(nest, assign, var)) {
    return refusal("Members of a chunk share blocks, and '", assign.tensor, "' has none along '",
                   var, "', so that they would find different entries; ", instead_of(nest, var),
                   ".");
  }
  return {};
}

Result<> check_loop(const Nest& nest, const Forall& loop) {
  if (loop.tag.by_atomics) {
    return refusal(
        "Members of a chunk compute different elements and have no common sums, and the ",
        "loop over '", loop.var, "' is bound to them with sums=atomics; leave that out.");
  }
  for (const Assign* assign : lasting_assigns(loop.body)) {
    const bool is_over = covers(assign->indices, nest, loop.var);
    if (is_over && is_gathered(nest, assign->tensor)) continue;
    return refusal("'", assign->tensor, "' is ", is_over ? "kept" : "summed", " in the loop over '",
                   loop.var,
                   "', and each member would have a part of it, while members only share ",
                   "the elements of blocks; ", instead_of(nest, loop.var), ".");
  }
  return {};
}

// The loop must contain the assignments to the workspace of a block and to the result, and both
// must use the same indices.
Result<> check_assign(const Nest& nest, const Assign& assign, const std::string& var) {
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
    return refusal(
        "'", assign.tensor, "' is assigned outside of the loops over '", var,
        "' that are bound to members, so that each member would only have a part of it; ",
        "put bind(", var, ", member) after the steps that make loops, or leave it out.");
  }
  return {};
}

// The number of members that the loop makes.
Result<int64_t> members_of(const Nest& nest, const std::string& var) {
  const auto extent = nest.known_extent(var);
  if (extent && *extent >= 1) return *extent;
  return refusal("A loop that is bound to members has a number of iterations that is known when ",
                 "compiling, and '", var, "' has ",
                 extent ? std::string("none") : std::string("a number known only when it runs"),
                 "; ", instead_of(nest, var), ".");
}

}  // namespace

Result<> require_legal_members(const Nest& nest) {
  const std::vector<std::string> members = nest::member_variables(nest);
  if (members.empty()) return {};
  if (nest::has_bound_loops(nest.root)) {
    return refusal(
        "The loops over ", list_of(members), " are bound to the members of chunks and ",
        "others to blocks, but a nest is either cut into chunks or bound to a GPU's parts; ",
        "bind those to threads, or leave out the binds to blocks.");
  }
  int64_t count = 1;
  for (const std::string& var : members) {
    const Result<int64_t> own = members_of(nest, var);
    if (!own) return own.error();
    count *= *own;
    TULLE_TRY(check_each_loop(nest.root, [&](const Forall& loop) {
      return loop.var == var ? check_loop(nest, loop) : Result<>();
    }));
    for (const Assign* assign : assigns(nest.root)) {
      if (nest.tensor(assign->tensor).role == Tensor::Role::Result)
        TULLE_TRY(check_result(nest, *assign, var));
    }
    for (const Assign* assign : assigns(nest.root)) TULLE_TRY(check_assign(nest, *assign, var));
    const std::string sparse = sparse_tensor(nest, nest.root, var);
    if (!sparse.empty()) {
      return refusal("Members of a chunk go through all coordinates of '", var, "', and '", sparse,
                     "' holds only some of them; ", instead_of(nest, var), ".");
    }
  }
  if (count > kMostMembers) {
    return refusal("Loops over ", list_of(members), " have ", count, " iterations together, and a ",
                   "chunk has at most ", kMostMembers, " members; bind fewer of them.");
  }
  return {};
}

}  // namespace tulle::schedule
