// Queries about nests, and refusals that several rewrites share.
#include "schedule/queries.h"

#include <algorithm>
#include <set>

#include "nest/absence.h"
#include "support/check.h"
#include "support/joined.h"

namespace tulle::schedule {

namespace {

std::string_view step_of(LoopTag::Kind kind) {
  switch (kind) {
    case LoopTag::Kind::Serial:
      return "serial";
    case LoopTag::Kind::Parallel:
      return "parallel";
    case LoopTag::Kind::Vector:
      return "vectorize";
    case LoopTag::Kind::Unrolled:
      return "unroll";
    case LoopTag::Kind::Member:
    case LoopTag::Kind::Block:
    case LoopTag::Kind::Warp:
    case LoopTag::Kind::Lane:
    case LoopTag::Kind::Thread:
      return "bind";
  }
  internal_error("unknown kind of loop");
}

// The variable and all variables it is derived from. Numbers of stored rows and of entry chunks
// have no gaps, so the lineage ends there.
std::vector<std::string> lineage(const Nest& nest, const std::string& var) {
  std::vector<std::string> names = {var};
  const Variable& variable = nest.variable(var);
  if (variable.origin == Variable::Origin::EntryChunk ||
      variable.origin == Variable::Origin::Stored)
    return names;
  auto append = [&](const std::string& parent) {
    const std::vector<std::string> more = lineage(nest, parent);
    names.insert(names.end(), more.begin(), more.end());
  };
  if (variable.origin != Variable::Origin::Source) append(variable.parent);
  if (variable.is_of_two()) append(variable.second);
  return names;
}

// Whether one of the variables is the half of a split that a block level does not store: the inner
// half of a level of quotients, the outer half of a level of remainders.
bool is_other_half(const Nest& nest, const std::vector<std::string>& variables,
                   const LevelExpr& level, const std::string& index) {
  if (level.is_whole() || level.is_difference()) return false;
  const bool quotient = level.part == LevelExpr::Part::Quotient;
  return std::any_of(variables.begin(), variables.end(), [&](const std::string& name) {
    const Variable& variable = nest.variable(name);
    return variable.parent == index && variable.factor == level.divisor &&
           variable.origin == (quotient ? Variable::Origin::Inner : Variable::Origin::Outer);
  });
}

void collect_lasting(const Stmt& stmt, std::set<std::string> local,
                     std::vector<const Assign*>& found) {
  if (const auto* forall = stmt.as<Forall>()) {
    collect_lasting(forall->body, std::move(local), found);
  } else if (const auto* where = stmt.as<Where>()) {
    local.insert(where->workspaces.begin(), where->workspaces.end());
    collect_lasting(where->producer, local, found);
    collect_lasting(where->consumer, local, found);
  } else if (const auto* sequence = stmt.as<Sequence>()) {
    for (const Stmt& part : sequence->stmts) collect_lasting(part, local, found);
  } else if (const auto* assign = stmt.as<Assign>(); assign && !local.contains(assign->tensor)) {
    found.push_back(assign);
  }
}

}  // namespace

std::vector<Stmt> parts_of(const Stmt& stmt) {
  if (const auto* forall = stmt.as<Forall>()) return {forall->body};
  if (const auto* where = stmt.as<Where>()) return {where->consumer, where->producer};
  const auto* sequence = stmt.as<Sequence>();
  return sequence ? sequence->stmts : std::vector<Stmt>();
}

Stmt map_parts(const Stmt& stmt, const std::function<Stmt(const Stmt&)>& rewrite) {
  if (const auto* forall = stmt.as<Forall>()) {
    return Forall::make(forall->var, rewrite(forall->body), forall->tag);
  }
  if (const auto* where = stmt.as<Where>()) {
    Stmt consumer = rewrite(where->consumer);
    return Where::make(where->workspaces, std::move(consumer), rewrite(where->producer));
  }
  if (const auto* sequence = stmt.as<Sequence>()) {
    std::vector<Stmt> stmts;
    stmts.reserve(sequence->stmts.size());
    for (const Stmt& part : sequence->stmts) stmts.push_back(rewrite(part));
    return Sequence::make(std::move(stmts));
  }
  return stmt;
}

Stmt rebuild(const Stmt& stmt, const std::function<Stmt(const Stmt&)>& rewrite) {
  return rewrite(map_parts(stmt, [&](const Stmt& part) { return rebuild(part, rewrite); }));
}

Stmt replace(const Stmt& stmt, const nest::Node* node, const Stmt& replacement) {
  if (stmt.get() == node) return replacement;
  return map_parts(stmt, [&](const Stmt& part) { return replace(part, node, replacement); });
}

namespace {

using CheckWithin = std::function<Result<>(const Forall&, const NameList& around)>;

Result<> check_loops(const Stmt& stmt, NameList& around, const CheckWithin& check) {
  if (const auto* forall = stmt.as<Forall>()) {
    TULLE_TRY(check(*forall, around));
    around.push_back(forall->var);
    TULLE_TRY(check_loops(forall->body, around, check));
    around.pop_back();
  } else if (const auto* where = stmt.as<Where>()) {
    TULLE_TRY(check_loops(where->consumer, around, check));
    return check_loops(where->producer, around, check);
  } else if (const auto* sequence = stmt.as<Sequence>()) {
    for (const Stmt& part : sequence->stmts) TULLE_TRY(check_loops(part, around, check));
  }
  return {};
}

}  // namespace

Result<> check_each_loop_within(const Stmt& stmt, const CheckWithin& check) {
  NameList around;
  return check_loops(stmt, around, check);
}

Result<> check_each_loop(const Stmt& stmt, const std::function<Result<>(const Forall&)>& check) {
  if (const auto* forall = stmt.as<Forall>()) {
    TULLE_TRY(check(*forall));
    return check_each_loop(forall->body, check);
  }
  if (const auto* where = stmt.as<Where>()) {
    TULLE_TRY(check_each_loop(where->consumer, check));
    return check_each_loop(where->producer, check);
  }
  if (const auto* sequence = stmt.as<Sequence>()) {
    for (const Stmt& part : sequence->stmts) TULLE_TRY(check_each_loop(part, check));
  }
  return {};
}

void for_each_loop_within(const Stmt& stmt,
                          const std::function<void(const Forall&, const NameList& around)>& visit) {
  // The check never refuses; it only visits the loops.
  (void)check_each_loop_within(stmt, [&](const Forall& loop, const NameList& around) {
    visit(loop, around);
    return Result<>();
  });
}

void for_each_loop(const Stmt& stmt, const std::function<void(const Forall&)>& visit) {
  if (const auto* forall = stmt.as<Forall>()) {
    visit(*forall);
    for_each_loop(forall->body, visit);
  } else if (const auto* where = stmt.as<Where>()) {
    for_each_loop(where->consumer, visit);
    for_each_loop(where->producer, visit);
  } else if (const auto* sequence = stmt.as<Sequence>()) {
    for (const Stmt& part : sequence->stmts) for_each_loop(part, visit);
  }
}

std::vector<std::string> loops_of(const Nest& nest) {
  std::vector<std::string> found;
  for_each_loop(nest.root, [&](const Forall& loop) {
    if (!contains(found, loop.var)) found.push_back(loop.var);
  });
  return found;
}

bool has_variable(const Nest& nest, const std::function<bool(const Variable&)>& is_it) {
  return std::any_of(nest.variables.begin(), nest.variables.end(),
                     [&](const auto& entry) { return is_it(entry.second); });
}

Nest with_tag(const Nest& nest, const LoopTag& tag,
              const std::function<bool(const Forall&)>& choose) {
  Nest tagged = nest;
  const std::function<Stmt(const Stmt&)> walk = [&](const Stmt& stmt) -> Stmt {
    const auto* where = stmt.as<Where>();
    if (where && nest.tensor(where->workspaces[0]).staging == Tensor::Staging::Shared)
      return Where::make(where->workspaces, walk(where->consumer), where->producer);
    const Stmt rewritten = map_parts(stmt, walk);
    const auto* forall = rewritten.as<Forall>();
    return forall && choose(*stmt.as<Forall>()) ? Forall::make(forall->var, forall->body, tag)
                                                : rewritten;
  };
  tagged.root = walk(nest.root);
  return tagged;
}

Result<> require_loop(const Nest& nest, const std::string& var) {
  const std::vector<std::string> loops = loops_of(nest);
  if (!contains(loops, var)) {
    return refusal("There is no loop over '", var, "'; the loops are ", list_of(loops), ".");
  }
  return {};
}

Result<> require_untagged(const Nest& nest, const std::string& var, std::string_view step) {
  return check_each_loop(nest.root, [&](const Forall& forall) -> Result<> {
    if (forall.var != var || forall.tag.kind == LoopTag::Kind::Serial) return {};
    const std::string_view earlier = step_of(forall.tag.kind);
    if (earlier == step)
      return refusal("The loop over '", var, "' already has ", step, "; leave one of them out.");
    return refusal("The loop over '", var, "' already has ", earlier, "; ",
                   step == "split" || step == "fuse"
                       ? concat("put ", step, " before ", earlier, ".")
                       : concat("split it first to use both."));
  });
}

Result<> require_whole_in_tracked(const Nest& nest, const std::string& var, std::string_view step) {
  for (const Assign* assign : assigns(nest.root)) {
    if (!nest.tensor(assign->tensor).is_tracked()) continue;
    if (!stores_sparsely(nest, assign->tensor, assign->indices, var)) continue;
    return refusal("'", assign->tensor, "' tracks the coordinates of '", var,
                   "' and needs an undivided loop; leave ", step, " out.");
  }
  return {};
}

Result<> require_counting_up(const Nest& nest, const std::string& var, std::string_view step) {
  const Variable& variable = nest.variable(var);
  if (variable.origin != Variable::Origin::Difference) return {};
  return refusal("'", var, "' runs over the differences of '", variable.parent, "' and '",
                 variable.second, "' that are stored, some of them negative; leave ", step,
                 " out.");
}

Result<> require_coordinates(const Nest& nest, const std::string& var, std::string_view step) {
  TULLE_TRY(require_counting_up(nest, var, step));
  const Variable& variable = nest.variable(var);
  if (!variable.is_position()) return {};
  return refusal("'", var, "' counts the entries of '", variable.tensor,
                 "' in a row, and a workspace holds coordinates; put ", step,
                 " before split_positions, or leave that out.");
}

Result<> require_same_indices(const Nest& nest, const expr::Access& access, std::string_view step) {
  for (const Assign* assign : assigns(nest.root)) {
    for (const expr::Access* other : expr::accesses(assign->value)) {
      if (other->tensor != access.tensor || other->indices == access.indices) continue;
      return refusal("'", access.tensor,
                     "' is also used with other indices, and a chunk only has some ",
                     "of its entries; leave ", step, " out.");
    }
  }
  return {};
}

bool shows_absence(const Nest& nest, const std::string& tensor) {
  const std::vector<const Assign*> all = assigns(nest.root);
  // If the result has its own pattern, absence decides which elements it stores. Otherwise absent
  // elements read as 0.
  const bool assembles = std::any_of(all.begin(), all.end(), [&](const Assign* assign) {
    const Tensor& target = nest.tensor(assign->tensor);
    return target.role == Tensor::Role::Result && !target.type.format.is_dense() &&
           target.shares_pattern_of.empty();
  });
  if (!assembles) return nest::told_from_zero(nest).contains(tensor);
  return std::any_of(all.begin(), all.end(), [&](const Assign* assign) {
    // At the entries of a mask, an absent value is 0.
    expr::Expr value = assign->value;
    for (const auto* within = value.as<expr::Binary>();
         within && within->op == expr::BinaryOp::Within; within = value.as<expr::Binary>()) {
      if (nest::reads(within->a, tensor)) return true;
      value = within->b;
    }
    // An expression that is not a sum has a term for a stored 0 and none for an absent value.
    const bool is_masked = value.get() != assign->value.get();
    const bool counts =
        !is_masked && !nest::starts_absent(assign->accumulate) && nest::may_be_absent(nest, tensor);
    return (counts || !value.as<expr::Access>()) && nest::reads(value, tensor);
  });
}

Result<> require_free_name(const Nest& nest, const std::string& name) {
  if (nest.variables.contains(name))
    return refusal("'", name, "' is already a variable; choose another name.");
  if (nest.tensors.contains(name))
    return refusal("'", name, "' is already a tensor; choose another name.");
  return {};
}

Result<> require_role(const Nest& nest, const std::string& tensor, Tensor::Role role) {
  std::vector<std::string> candidates;
  for (const auto& [name, candidate] : nest.tensors) {
    if (candidate.role == role) candidates.push_back(name);
  }
  if (contains(candidates, tensor)) return {};
  const std::string_view wanted = role == Tensor::Role::Operand ? "operand" : "result";
  return refusal("'", tensor, "' is no ", wanted, "; the ", wanted, "s are ", list_of(candidates),
                 ".");
}

std::string list_of(const std::vector<std::string>& names) {
  return names.empty() ? "none" : joined(names);
}

Result<bool> is_over_indices(const Nest& nest, const Assign& target, const std::string& var,
                             std::string_view step) {
  if (covers(target.indices, nest, var)) return true;
  const Variable& variable = nest.variable(var);
  for (const std::string& index : target.indices) {
    if (!nest.derives_from(var, index)) continue;
    if (variable.origin == Variable::Origin::Difference) {
      return refusal("'", var, "' is the difference of '", index, "', an index of '", target.tensor,
                     "', and '", variable.second, "', which is summed; leave ", step, " out.");
    }
    return refusal("'", var, "' fuses '", index, "' of '", target.tensor,
                   "' with an index that is summed; put ", step, " before fuse.");
  }
  return false;
}

bool goes_along_diagonals(const Nest& nest, const std::string& var) {
  const std::vector<std::string> sources = nest.sources(var);
  bool found = false;
  for_each_loop_within(nest.root, [&](const Forall& loop, const std::vector<std::string>& around) {
    found |=
        loop.var == var && std::any_of(around.begin(), around.end(), [&](const std::string& outer) {
          const Variable& variable = nest.variable(outer);
          return variable.origin == Variable::Origin::Difference &&
                 (contains(sources, variable.parent) || contains(sources, variable.second));
        });
  });
  return found;
}

bool stores_sparsely(const Nest& nest, const std::string& tensor,
                     const std::vector<std::string>& indices, const std::string& var) {
  const std::vector<std::string> names = lineage(nest, var);
  const Tensor& stored = nest.tensor(tensor);
  const bool tracked = stored.is_tracked();
  const std::vector<Level>& levels = stored.type.format.levels();
  return std::any_of(levels.begin(), levels.end(), [&](const Level& level) {
    const std::string& index = indices[static_cast<size_t>(level.expr.dimension)];
    // A tracked workspace stores all coordinates of its blocks, which follow its first variable.
    const bool sparse = tracked                  ? level.expr.dimension == 0
                        : is_bounded(level.kind) ? goes_along_diagonals(nest, var)
                                                 : !is_full(level.kind);
    return sparse && contains(names, index) && !is_other_half(nest, names, level.expr, index);
  });
}

bool leads_to_entries(const Nest& nest, const std::string& tensor,
                      const std::vector<std::string>& indices, const std::string& var) {
  const std::vector<std::string> names = lineage(nest, var);
  bool is_over = false;
  for (const Level& level : nest.tensor(tensor).type.format.levels()) {
    const std::string& index = indices[static_cast<size_t>(level.expr.dimension)];
    is_over |= contains(names, index) && !is_other_half(nest, names, level.expr, index);
    if (is_over && !is_direct(level.kind)) return true;
  }
  return false;
}

std::string sparse_tensor(const Nest& nest, const Stmt& stmt, const std::string& var) {
  for (const Assign* assign : assigns(stmt)) {
    for (const expr::Access* access : expr::accesses(assign->value)) {
      if (stores_sparsely(nest, access->tensor, access->indices, var)) return access->tensor;
    }
    if (stores_sparsely(nest, assign->tensor, assign->indices, var)) return assign->tensor;
  }
  return {};
}

int next_access_id(const Nest& nest) {
  int next = 0;
  for (const Assign* assign : assigns(nest.root)) {
    for (const expr::Access* access : expr::accesses(assign->value))
      next = std::max(next, access->id + 1);
  }
  return next;
}

std::vector<const Assign*> lasting_assigns(const Stmt& stmt) {
  std::vector<const Assign*> found;
  collect_lasting(stmt, {}, found);
  return found;
}

Result<> require_in_pieces(const Nest& nest, const Forall& entries, const Stmt& stmt,
                           const std::vector<std::string>& gathered, const std::string& operand,
                           std::string_view way_out) {
  for (const Assign* assign : assigns(stmt)) {
    const bool lasts = contains(gathered, assign->tensor) ||
                       nest.tensor(assign->tensor).role != Tensor::Role::Workspace;
    if (nest::find_assign(entries.body, *assign) ||
        (!lasts && !nest::reads(assign->value, operand)))
      continue;
    return refusal("'", assign->tensor, "' is computed outside of the loop over '", entries.var,
                   "', along which '", operand,
                   "' stores the entries of a row, and each piece of a ", "row would do that; ",
                   way_out, ".");
  }
  return {};
}

std::vector<const Assign*> all_lasting_assigns(const Nest& nest, const Stmt& stmt) {
  std::vector<const Assign*> all = assigns(nest.root);
  return assigns(stmt).size() == all.size() ? lasting_assigns(stmt) : all;
}

}  // namespace tulle::schedule
